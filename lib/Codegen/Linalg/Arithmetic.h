//===- Arithmetic.h - Scalar arithmetic in the bodies of ops ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_LINALG_ARITHMETIC_H
#define PIPEWRIGHT_LIB_CODEGEN_LINALG_ARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace pipewright {

/// The type in which elements of \p element are computed: f32 for f16 and
/// bf16, which are only how values are stored.
mlir::Type getComputeType(mlir::Type element);

/// Builds arithmetic on numbers, float or integer by the operands' type.
class Arithmetic : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// The result of a new op.
  template <typename OpTy, typename... Args>
  mlir::Value make(Args &&...args) {
    return OpTy::create(*this, std::forward<Args>(args)...);
  }

  /// \p value, saturated where \p type is an integer that does not hold it.
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value constantInt(mlir::Type type, int64_t value);

  /// \p value in the type that it is computed in; what is no number of 16 bits
  /// stays as it is.
  mlir::Value widen(mlir::Value value);
  /// A float as the float \p type, rounded to the nearest, of two to the even
  /// one.
  mlir::Value convertFloat(mlir::Type type, mlir::Value value);

  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  /// NaN if an operand is.
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  mlir::Value compare(mlir::arith::CmpFPredicate floats,
                      mlir::arith::CmpIPredicate integers, mlir::Value lhs,
                      mlir::Value rhs);
  mlir::Value less(mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse);

  /// Addition and multiplication whose order the vectorizer may choose, for
  /// the partial results of a reduction.
  mlir::Value addInAnyOrder(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mulInAnyOrder(mlir::Value lhs, mlir::Value rhs);

private:
  /// An f64 as an f32, inexact ones rounded so that rounding the result to 16
  /// bits gives what rounding the f64 would.
  mlir::Value roundToOdd(mlir::Value value);
  /// A multiplication may merge with the addition after it.
  mlir::arith::FastMathFlagsAttr getContract();
  mlir::arith::FastMathFlagsAttr getReassociate();
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_LINALG_ARITHMETIC_H
