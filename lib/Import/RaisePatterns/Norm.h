//===- Norm.h - What layer norms have in common -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_NORM_H
#define PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_NORM_H

#include "RowStatistics.h"

#include "mlir/IR/Builders.h"

namespace pipewright {

/// `operand / sqrt(mean(squared^2) + epsilon)`. Operand and squared are one
/// value in an RMS norm, and two deviations from the mean in a layer norm.
struct NormCore {
  mlir::Value operand;
  mlir::Value squared;
  double epsilon;
  RowStatistics rows;

  /// The first axis of a row.
  int64_t getAxis() const { return rows.getAxes().front(); }
};

/// Takes \p op apart if it is the quotient, or the product with a reciprocal,
/// that completes a norm over the last axes.
std::optional<NormCore> matchNormCore(mlir::Operation *op);

/// What follows a norm.
struct NormScale {
  /// The op that completes the norm: a sum with the bias, a product with the
  /// scale or, if there is neither, the normalization itself.
  mlir::Operation *last;
  /// Of the row's shape; all 1 where the norm has no scale.
  mlir::Value scale;
  /// Of the row's shape, or null.
  mlir::Value bias;
};

/// Finds scale and, if \p withBias, bias of the norm that \p normalized
/// completes. Moves the builder to the last op and makes values there.
NormScale takeNormScale(mlir::Operation *normalized, const NormCore &core,
                        bool withBias, mlir::OpBuilder &builder);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_NORM_H
