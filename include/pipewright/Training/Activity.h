//===- Activity.h - Where gradients flow ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TRAINING_ACTIVITY_H
#define PIPEWRIGHT_TRAINING_ACTIVITY_H

#include "pipewright/Dialect/PP/PP.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace pipewright {

/// What is differentiated in a layer, or in a layer function.
struct Activity {
  Activity() = default;
  Activity(unsigned firstParameter, unsigned arguments, unsigned results)
      : firstParameter(firstParameter), arguments(arguments), results(results) {
  }

  /// The arguments from this one on are parameters.
  unsigned firstParameter = 0;
  /// The arguments whose gradient is wanted.
  llvm::BitVector arguments;
  /// The results that have a cotangent.
  llvm::BitVector results;

  /// Whether the loss depends on the layer at all.
  bool isActive() const { return results.any(); }
  /// The parameters whose gradient is wanted, as bits of `arguments`.
  llvm::BitVector getParameters() const;
};

/// The activity of each layer of \p model, in order: a value has a gradient if
/// it depends on a trainable parameter and the loss depends on it, both
/// through ops that have one.
llvm::MapVector<pp::LayerOp, Activity> findActivity(pp::ModelOp model);

/// The values of \p model that depend on a trainable parameter through ops that
/// have a gradient.
llvm::DenseSet<mlir::Value> findTrainedValues(pp::ModelOp model);

/// Whether \p operand passes a gradient on: floating point, and not constant
/// to its op.
bool isDifferentiable(mlir::OpOperand &operand);

/// Whether values of \p type can have a gradient.
bool hasGradient(mlir::Type type);

} // namespace pipewright

#endif // PIPEWRIGHT_TRAINING_ACTIVITY_H
