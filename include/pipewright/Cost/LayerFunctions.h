//===- LayerFunctions.h - What each distinct layer runs ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_LAYERFUNCTIONS_H
#define PIPEWRIGHT_COST_LAYERFUNCTIONS_H

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace pipewright {

/// The functions that layers with one callee run. The recomputation of all that
/// `forward` makes runs it once more.
struct LayerFunctions {
  /// In the order of the model, at least one.
  llvm::SmallVector<pp::LayerOp> layers;
  /// The callee itself where there is no derivative.
  nn::FunctionOp forward;
  /// Null where the layers have no such role.
  nn::FunctionOp backward, weight, recompute;
  /// Null before Training, and for inference.
  nn::DerivativeOp derivative;
};

/// The distinct layers of \p module in the order in which the model first has
/// them. Requires outlined layers.
llvm::SmallVector<LayerFunctions> findLayerFunctions(mlir::ModuleOp module);

/// A hash of the text of the functions without their names, 16 hexadecimal
/// digits: equal for layers that compute the same on the same types.
std::string getLayerKey(const LayerFunctions &functions);

} // namespace pipewright

#endif // PIPEWRIGHT_COST_LAYERFUNCTIONS_H
