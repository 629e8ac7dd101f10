//===- WeightGradients.h - Which layer has whose gradient -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TRAINING_WEIGHTGRADIENTS_H
#define PIPEWRIGHT_TRAINING_WEIGHTGRADIENTS_H

#include "pipewright/Dialect/PP/PP.h"

#include "llvm/ADT/StringMap.h"

namespace pipewright {

/// The derivative of each layer function of \p module, by the function's name.
llvm::StringMap<nn::DerivativeOp> findDerivatives(mlir::ModuleOp module);

/// For each parameter of \p module, by name, the indices of the layers whose W
/// function computes a gradient for it, ascending.
llvm::StringMap<llvm::SmallVector<int64_t>>
findWeightGradients(mlir::ModuleOp module);

} // namespace pipewright

#endif // PIPEWRIGHT_TRAINING_WEIGHTGRADIENTS_H
