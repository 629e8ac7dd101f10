//===- Create.cpp - Makes ops where there is something to do
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/Create.h"

#include "Verification.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::nn;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

Value nn::createReshape(OpBuilder &builder, Location loc, Value value,
                        ArrayRef<int64_t> shape) {
  if (getShape(value) == shape)
    return value;
  return ReshapeOp::create(builder, loc, getType(value).clone(shape), value);
}

Value nn::createBroadcast(OpBuilder &builder, Location loc, Value value,
                          ArrayRef<int64_t> shape) {
  if (getShape(value) == shape)
    return value;
  return BroadcastOp::create(builder, loc, getType(value).clone(shape), value);
}

Value nn::createTranspose(OpBuilder &builder, Location loc, Value value,
                          ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return value;
  SmallVector<int64_t> shape;
  for (int64_t axis : permutation)
    shape.push_back(getShape(value)[axis]);
  return TransposeOp::create(builder, loc, getType(value).clone(shape), value,
                             permutation);
}

Value nn::createCast(OpBuilder &builder, Location loc, Value value,
                     Type element) {
  RankedTensorType type = getType(value);
  if (type.getElementType() == element)
    return value;
  return CastOp::create(builder, loc, type.clone(element), value);
}

Value nn::createSplatLike(OpBuilder &builder, Location loc, Value like,
                          double number) {
  RankedTensorType type = getType(like);
  Type kind = type.getElementType();
  Attribute element =
      isa<FloatType>(kind)
          ? Attribute(builder.getFloatAttr(kind, number))
          : Attribute(builder.getIntegerAttr(kind, int64_t(number)));
  return ConstantOp::create(builder, loc, type,
                            DenseElementsAttr::get(type, element));
}
