//===- NNBuilder.h - Builds nn ops, folding what is known -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters spell shape arithmetic out as operators. All shapes are static
// here, so it is known while importing: every op that is built of constants
// becomes a constant at once, and operators can ask for the values of their
// operands.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_IMPORT_NNBUILDER_H
#define PIPEWRIGHT_IMPORT_NNBUILDER_H

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"

#include <optional>
#include <utility>

namespace pipewright {

/// The shape to which tensors of the shapes \p lhs and \p rhs are broadcast by
/// NumPy's rule; none if they cannot be.
std::optional<llvm::SmallVector<int64_t>>
getBroadcastShape(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

inline mlir::RankedTensorType getTensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

inline llvm::ArrayRef<int64_t> getShape(mlir::Value value) {
  return getTensorType(value).getShape();
}

inline mlir::Type getElementType(mlir::Value value) {
  return getTensorType(value).getElementType();
}

/// \p number without its fraction; the nearest integer that there is if it is
/// larger than all of them, 0 for NaN.
int64_t toInteger(double number);

/// Whether \p sizes, of which a model may say anything, are not negative and
/// add up to \p total.
bool addUpTo(llvm::ArrayRef<int64_t> sizes, int64_t total);

/// The axes 0 to \p rank - 1.
llvm::SmallVector<int64_t> getAllAxes(int64_t rank);

class NNBuilder {
public:
  explicit NNBuilder(mlir::OpBuilder builder)
      : builder(builder), loc(builder.getUnknownLoc()) {}

  void setLoc(mlir::Location newLoc) { loc = newLoc; }
  mlir::Location getLoc() const { return loc; }
  mlir::OpBuilder &getOpBuilder() { return builder; }

  /// Creates an op, verifies it and returns its first result, as a constant if
  /// possible.
  template <typename OpTy, typename... Args>
  mlir::Value create(Args &&...args) {
    return fold(OpTy::create(builder, loc, std::forward<Args>(args)...));
  }

  /// Whether an op was invalid or, as a division by zero, had no value since
  /// the last call; it has been reported.
  bool takeFailure() { return std::exchange(failed, false); }

  mlir::Value constant(mlir::ElementsAttr value);
  /// A tensor of \p type filled with \p value.
  mlir::Value splat(mlir::RankedTensorType type, double value);
  /// A tensor with the type of \p like filled with \p value.
  mlir::Value splatLike(mlir::Value like, double value) {
    return splat(getTensorType(like), value);
  }
  mlir::Value scalar(mlir::Type element, double value) {
    return splat(mlir::RankedTensorType::get({}, element), value);
  }
  /// The values as a tensor<nxi64>.
  mlir::Value integers(llvm::ArrayRef<int64_t> values);
  /// The numbers from 0 along \p axis of a tensor of \p type. They are held in
  /// memory; an axis that is too long for that is reported as an error.
  mlir::Value iota(mlir::RankedTensorType type, int64_t axis);

  // Each of these returns its operand where there is nothing to do.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value cast(mlir::Value value, mlir::Type element);
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<int64_t> offsets,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> strides);

  /// Joins \p parts, of one shape but for the size of \p axis. Those without
  /// elements are left out.
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis);
  /// \p size elements of \p axis from \p offset on.
  mlir::Value sliceAxis(mlir::Value value, int64_t axis, int64_t offset,
                        int64_t size, int64_t stride = 1);

  /// Combines \p axes, which are sorted; they stay as axes of size 1 if
  /// \p keepAxes.
  mlir::Value reduce(nn::Reduction kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> axes, bool keepAxes);
  mlir::Value compare(nn::Comparison predicate, mlir::Value lhs,
                      mlir::Value rhs);
  /// \p value times a number.
  mlir::Value scale(mlir::Value value, double factor);

  /// A product over broadcast batch dimensions; a product with one matrix is
  /// two-dimensional. Operands have at least two axes and batch dimensions that
  /// broadcast.
  mlir::Value matmul(mlir::Value lhs, mlir::Value rhs);

private:
  mlir::Value fold(mlir::Operation *op);

  mlir::OpBuilder builder;
  mlir::Location loc;
  bool failed = false;
};

/// The values of \p value if it is a constant.
mlir::DenseElementsAttr getConstant(mlir::Value value);

} // namespace pipewright

#endif // PIPEWRIGHT_IMPORT_NNBUILDER_H
