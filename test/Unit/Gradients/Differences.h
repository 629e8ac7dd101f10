//===- Differences.h - Derivatives by small differences ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_GRADIENTS_DIFFERENCES_H
#define PIPEWRIGHT_TEST_UNIT_GRADIENTS_DIFFERENCES_H

#include "pipewright/Dialect/NN/Evaluate.h"

#include <random>

namespace pipewright {

using Tensors = llvm::SmallVector<nn::HostTensor>;

/// Makes tensors of the same values in each run.
class TensorMaker {
public:
  TensorMaker(double low, double high, int64_t integers)
      : floats(low, high), integers(0, integers - 1) {}

  /// A tensor of \p type: booleans, integers or floats in the ranges.
  nn::HostTensor make(mlir::Type type);
  Tensors make(llvm::ArrayRef<mlir::Type> types);

private:
  std::mt19937_64 generator;
  std::uniform_real_distribution<double> floats;
  std::uniform_int_distribution<int64_t> integers;
};

/// The results of \p function; a failure of the test if it has none. Its
/// symbols are those of the module that holds it.
Tensors evaluate(nn::FunctionOp function, llvm::ArrayRef<nn::HostTensor> inputs,
                 nn::Rounding rounding = nn::Rounding::None);

/// The gradient for argument \p argument of the sum of \p cotangents times
/// results of \p function, by central differences. There is one cotangent per
/// result; those of results that are not floating point are not used.
std::vector<double> differentiate(nn::FunctionOp function,
                                  llvm::ArrayRef<nn::HostTensor> inputs,
                                  llvm::ArrayRef<nn::HostTensor> cotangents,
                                  unsigned argument);

/// Expects equal values within 1e-6, relative to the largest.
void expectNear(llvm::ArrayRef<double> actual, llvm::ArrayRef<double> expected);

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_GRADIENTS_DIFFERENCES_H
