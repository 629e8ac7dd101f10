//===- GradientSamples.h - Functions on which gradients are tried -*- C++ -*-=//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_GRADIENTS_GRADIENTSAMPLES_H
#define PIPEWRIGHT_TEST_UNIT_GRADIENTS_GRADIENTSAMPLES_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>

namespace pipewright {

/// A function that applies one op to its arguments.
struct GradientSample {
  /// Without the dialect's prefix.
  const char *op;
  /// Text of an `nn.function`.
  std::string text;
  /// Range of floating-point arguments, inside which the op is smooth.
  double low = -2, high = 2;
  /// Integer arguments are in [0, this).
  int64_t integers = 3;
};

/// At least one sample for each op that computes something.
llvm::ArrayRef<GradientSample> getGradientSamples();

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_GRADIENTS_GRADIENTSAMPLES_H
