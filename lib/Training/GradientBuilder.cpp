//===- GradientBuilder.cpp - Writes a gradient like its formula
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/GradientBuilder.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace pipewright;

ArrayRef<int64_t> pipewright::getShape(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

SmallVector<int64_t> pipewright::getAxes(int64_t first, int64_t rank) {
  return llvm::to_vector(llvm::seq(first, rank));
}

Type GradientBuilder::withShape(Value operand, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, getElementTypeOrSelf(operand.getType()));
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Value GradientBuilder::constant(double value, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Attribute element;
  if (auto floating = dyn_cast<FloatType>(tensor.getElementType()))
    element = builder.getFloatAttr(floating, value);
  else
    element = builder.getIntegerAttr(tensor.getElementType(),
                                     static_cast<int64_t>(value));
  return create<nn::ConstantOp>(tensor,
                                DenseElementsAttr::get(tensor, element));
}

Value GradientBuilder::constant(double value, Value like) {
  return constant(value, like.getType());
}

Value GradientBuilder::add(Value lhs, Value rhs) {
  return create<nn::AddOp>(lhs, rhs);
}

Value GradientBuilder::subtract(Value lhs, Value rhs) {
  return create<nn::SubOp>(lhs, rhs);
}

Value GradientBuilder::multiply(Value lhs, Value rhs) {
  return create<nn::MulOp>(lhs, rhs);
}

Value GradientBuilder::divide(Value lhs, Value rhs) {
  return create<nn::DivOp>(lhs, rhs);
}

Value GradientBuilder::power(Value base, Value exponent) {
  return create<nn::PowOp>(base, exponent);
}

Value GradientBuilder::negate(Value operand) {
  return create<nn::NegOp>(operand);
}

Value GradientBuilder::scale(Value operand, double factor) {
  return multiply(operand, constant(factor, operand));
}

Value GradientBuilder::compare(nn::Comparison predicate, Value lhs, Value rhs) {
  Type type = RankedTensorType::get(getShape(lhs), builder.getI1Type());
  return create<nn::CompareOp>(type, predicate, lhs, rhs);
}

Value GradientBuilder::select(Value condition, Value onTrue, Value onFalse) {
  return create<nn::SelectOp>(onTrue.getType(), condition, onTrue, onFalse);
}

Value GradientBuilder::castTo(Value operand, Type elementType) {
  if (getElementTypeOrSelf(operand) == elementType)
    return operand;
  return create<nn::CastOp>(
      RankedTensorType::get(getShape(operand), elementType), operand);
}

//===----------------------------------------------------------------------===//
// Shapes, contractions, reductions
//===----------------------------------------------------------------------===//

Value GradientBuilder::reshape(Value operand, ArrayRef<int64_t> shape) {
  if (getShape(operand) == shape)
    return operand;
  return create<nn::ReshapeOp>(withShape(operand, shape), operand);
}

Value GradientBuilder::transpose(Value operand, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape;
  for (int64_t axis : permutation)
    shape.push_back(getShape(operand)[axis]);
  return create<nn::TransposeOp>(withShape(operand, shape), operand,
                                 permutation);
}

Value GradientBuilder::matmul(Value lhs, bool transposeLhs, Value rhs,
                              bool transposeRhs, Type type) {
  return create<nn::MatMulOp>(type, lhs, rhs, transposeLhs, transposeRhs);
}

Value GradientBuilder::reduce(nn::Reduction kind, Value operand,
                              ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape;
  for (auto [axis, size] : llvm::enumerate(getShape(operand)))
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      shape.push_back(size);
  return create<nn::ReduceOp>(withShape(operand, shape), kind, operand, axes);
}

Value GradientBuilder::broadcastTo(Value operand, ArrayRef<int64_t> shape) {
  if (getShape(operand) == shape)
    return operand;
  return create<nn::BroadcastOp>(withShape(operand, shape), operand);
}

Value GradientBuilder::reduceTo(Value operand, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = getShape(operand);
  int64_t added = from.size() - shape.size();
  SmallVector<int64_t> axes = getAxes(0, added);
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size != from[axis + added])
      axes.push_back(axis + added);
  if (!axes.empty())
    operand = reduce(nn::Reduction::Sum, operand, axes);
  return reshape(operand, shape);
}

Value GradientBuilder::repeatAlong(Value operand, ArrayRef<int64_t> axes,
                                   ArrayRef<int64_t> shape) {
  SmallVector<int64_t> kept(shape);
  for (int64_t axis : axes)
    kept[axis] = 1;
  return broadcastTo(reshape(operand, kept), shape);
}
