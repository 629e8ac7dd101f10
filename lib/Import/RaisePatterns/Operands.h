//===- Operands.h - Operands in any order -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_OPERANDS_H
#define PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_OPERANDS_H

#include "pipewright/Dialect/NN/NN.h"

#include <optional>
#include <utility>

namespace pipewright {

/// The value of a constant float tensor whose elements are all the same,
/// perhaps reshaped or repeated.
std::optional<double> getSplat(mlir::Value value);

/// Whether \p value is \p expected, up to the rounding of a few constants of
/// the element type \p type.
bool isClose(double value, double expected, mlir::Type type);

/// Whether \p value is a splat close to \p expected.
bool isSplat(mlir::Value value, double expected);

/// The operand of an `OpTy` with two operands whose other operand is the
/// splat \p expected; the splat is on the right unless `OpTy` commutes.
template <typename OpTy>
mlir::Value getOperandBesideSplat(mlir::Value value, double expected) {
  auto op = value.getDefiningOp<OpTy>();
  if (!op)
    return {};
  if (isSplat(op.getRhs(), expected))
    return op.getLhs();
  if (op->template hasTrait<mlir::OpTrait::IsCommutative>() &&
      isSplat(op.getLhs(), expected))
    return op.getRhs();
  return {};
}

/// The value that \p value is a number times, and that number, written as a
/// product or a quotient.
std::optional<std::pair<mlir::Value, double>> getScaled(mlir::Value value);

/// The value that \p value is the square of, written as product or power.
mlir::Value getSquared(mlir::Value value);

/// The value that \p value is the square root of.
mlir::Value getUnderRoot(mlir::Value value);

/// The value that \p value is the reciprocal of, also as `1 / x` or
/// `pow(x, -1)`.
mlir::Value getReciprocal(mlir::Value value);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_OPERANDS_H
