//===- Activations.h - Nonlinear functions ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nonlinear functions that are operators of their own and parts of fused ones.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_ACTIVATIONS_H
#define PIPEWRIGHT_LIB_IMPORT_ACTIVATIONS_H

#include "pipewright/Import/OnnxNode.h"

namespace pipewright {

/// The smaller of \p x and \p bound.
mlir::Value clampAbove(NNBuilder &b, mlir::Value x, double bound);

/// \p x between two bounds.
mlir::Value clamp(NNBuilder &b, mlir::Value x, double low, double high);

/// x * sigmoid(slope * x), which is SiLU and, with other slopes, Swish.
mlir::Value swish(NNBuilder &b, mlir::Value x, double slope);

/// The activation of \p x that attribute `activation` of \p node, a fused
/// operator, names; its own attributes have names that begin with
/// `activation_`. \p x if there is none.
mlir::FailureOr<mlir::Value> applyFusedActivation(OnnxNode &node,
                                                  mlir::Value x);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_ACTIVATIONS_H
