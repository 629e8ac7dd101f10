//===- GradientBuilder.h - Writes a gradient like its formula ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TRAINING_GRADIENTBUILDER_H
#define PIPEWRIGHT_TRAINING_GRADIENTBUILDER_H

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"

namespace pipewright {

/// Makes `nn` ops at the location of the op whose gradient they compute, so
/// that backward work is named after the ONNX node it belongs to.
class GradientBuilder {
public:
  using Value = mlir::Value;

  GradientBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }

  /// Makes any op, for what has no shorthand below.
  template <typename OpTy, typename... Args>
  OpTy create(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }

  /// A tensor of the type of \p like with \p value in each element.
  Value constant(double value, Value like);
  Value constant(double value, mlir::Type type);

  Value add(Value lhs, Value rhs);
  Value subtract(Value lhs, Value rhs);
  Value multiply(Value lhs, Value rhs);
  Value divide(Value lhs, Value rhs);
  Value power(Value base, Value exponent);
  Value negate(Value operand);
  /// The product with a number.
  Value scale(Value operand, double factor);
  Value compare(nn::Comparison predicate, Value lhs, Value rhs);
  Value select(Value condition, Value onTrue, Value onFalse);
  Value castTo(Value operand, mlir::Type elementType);

  Value reshape(Value operand, llvm::ArrayRef<int64_t> shape);
  Value transpose(Value operand, llvm::ArrayRef<int64_t> permutation);
  Value matmul(Value lhs, bool transposeLhs, Value rhs, bool transposeRhs,
               mlir::Type type);
  Value reduce(nn::Reduction kind, Value operand, llvm::ArrayRef<int64_t> axes);

  /// Repeats \p operand by NumPy's rule up to \p shape.
  Value broadcastTo(Value operand, llvm::ArrayRef<int64_t> shape);
  /// The transpose of broadcastTo: sums \p operand down to \p shape.
  Value reduceTo(Value operand, llvm::ArrayRef<int64_t> shape);
  /// Repeats \p operand, which lacks \p axes, along them up to \p shape: puts
  /// back what a reduction over \p axes dropped.
  Value repeatAlong(Value operand, llvm::ArrayRef<int64_t> axes,
                    llvm::ArrayRef<int64_t> shape);

private:
  mlir::Type withShape(Value operand, llvm::ArrayRef<int64_t> shape);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// The shape of a tensor.
llvm::ArrayRef<int64_t> getShape(mlir::Value tensor);

/// The axes \p first, \p first + 1, … up to \p rank, without \p rank.
llvm::SmallVector<int64_t> getAxes(int64_t first, int64_t rank);

} // namespace pipewright

#endif // PIPEWRIGHT_TRAINING_GRADIENTBUILDER_H
