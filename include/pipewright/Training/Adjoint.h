//===- Adjoint.h - A layer function and its gradients in one ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Differentiation first writes all gradients behind the ops of the layer
// function, as if nothing had to be saved, and then cuts F, B and W out of the
// whole. So what F saves, what B hands to W, and what is computed again are
// decided in one place each, and no gradient rule knows of them.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TRAINING_ADJOINT_H
#define PIPEWRIGHT_TRAINING_ADJOINT_H

#include "pipewright/Training/Activity.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SetVector.h"

namespace pipewright {

/// A layer function with its gradients. The block's arguments are those of the
/// layer function, then cotangents and accumulators; `roles` says which.
struct Adjoint {
  /// Belongs to no module.
  mlir::OwningOpRef<nn::FunctionOp> function;
  llvm::SmallVector<nn::OperandAttr> roles;
  /// The ops of the layer function; the others are gradients.
  llvm::DenseSet<mlir::Operation *> primal;
  llvm::SmallVector<mlir::Value> results;

  /// The arguments with a gradient, ascending, and the gradients.
  llvm::SmallVector<int64_t> inputs;
  llvm::SmallVector<mlir::Value> inputGradients;
  /// The parameters with a gradient, ascending, and the final accumulators.
  llvm::SmallVector<int64_t> parameters;
  llvm::SmallVector<mlir::Value> accumulators;

  mlir::Block &getBody() { return function.get().getBody().front(); }
  /// Whether \p value is made by an op of the layer function.
  bool isPrimal(mlir::Value value) const {
    return value.getDefiningOp() && primal.contains(value.getDefiningOp());
  }
};

/// Differentiates \p function. Contributions to the gradient of one value are
/// added from its last use to its first. Reports an op without a gradient.
mlir::FailureOr<Adjoint> buildAdjoint(nn::FunctionOp function,
                                      const Activity &activity);

/// The values of the layer function that F must save so that all gradients can
/// be computed from arguments, results and them; cheap ops are done again.
llvm::SetVector<mlir::Value> chooseResiduals(Adjoint &adjoint);

/// Canonicalizes \p function and removes equal and unused ops.
void simplify(nn::FunctionOp function);

} // namespace pipewright

#endif // PIPEWRIGHT_TRAINING_ADJOINT_H
