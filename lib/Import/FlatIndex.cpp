//===- FlatIndex.cpp - Coordinates in several axes as one number
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatIndex.h"

using namespace mlir;
using namespace pipewright;

void FlatIndex::addAxis(NNBuilder &b, Value coordinate, int64_t size) {
  if (position) {
    Value stride = b.splatLike(position, size);
    position = b.create<nn::MulOp>(position, stride);
    coordinate = b.create<nn::AddOp>(position, coordinate);
  }
  position = coordinate;
  elements *= size;
  ++axes;
}

void FlatIndex::addIndex(NNBuilder &b, Value index, int64_t size) {
  // The remainder by 0 has no value; an empty axis has no elements to name.
  Value divisor = b.splatLike(index, std::max<int64_t>(size, 1));
  addAxis(b, b.create<nn::ModOp>(index, divisor), size);
}

SmallVector<int64_t> FlatIndex::getFlatShape(Value table) const {
  SmallVector<int64_t> shape = {elements};
  llvm::append_range(shape, getShape(table).drop_front(axes));
  return shape;
}

SmallVector<int64_t> FlatIndex::getSlicesShape(Value table) const {
  SmallVector<int64_t> shape(getShape(position));
  llvm::append_range(shape, getShape(table).drop_front(axes));
  return shape;
}

Value FlatIndex::gather(NNBuilder &b, Value table) const {
  return b.create<nn::GatherOp>(
      getTensorType(table).clone(getSlicesShape(table)),
      b.reshape(table, getFlatShape(table)), position, /*axis=*/0);
}

Value FlatIndex::scatter(NNBuilder &b, Value updates, Value table) const {
  Value sums = b.create<nn::ScatterAddOp>(
      getTensorType(updates).clone(getFlatShape(table)), updates, position,
      /*axis=*/0);
  return b.reshape(sums, getShape(table));
}

/// Combines two tensors of one shape.
static Value combineTwo(NNBuilder &b, nn::Reduction kind, Value lhs,
                        Value rhs) {
  switch (kind) {
  case nn::Reduction::Prod:
    return b.create<nn::MulOp>(lhs, rhs);
  case nn::Reduction::Max:
    return b.create<nn::MaxOp>(lhs, rhs);
  case nn::Reduction::Min:
    return b.create<nn::MinOp>(lhs, rhs);
  case nn::Reduction::Sum:
  case nn::Reduction::Mean:
    break;
  }
  llvm_unreachable("sums are made by scatter");
}

Value FlatIndex::combine(NNBuilder &b, nn::Reduction kind, Value updates,
                         Value table) const {
  constexpr int64_t limit = int64_t(1) << 24;
  int64_t count = getTensorType(position).getNumElements();
  int64_t width =
      getTensorType(table).getNumElements() / std::max<int64_t>(elements, 1);
  if (double(count) * elements * width > limit)
    return {};
  // Updates, slices, elements of a slice.
  SmallVector<int64_t> shape = {count, elements, width};
  auto type = RankedTensorType::get(shape, getElementType(table));
  auto numbers =
      RankedTensorType::get({1, elements, 1}, getElementType(position));
  Value isThere =
      b.compare(nn::Comparison::Equal,
                b.broadcast(b.reshape(position, {count, 1, 1}), shape),
                b.broadcast(b.iota(numbers, /*axis=*/1), shape));
  Value slices = b.reshape(table, {1, elements, width});
  // What does not change the slice.
  Value neutral = kind == nn::Reduction::Prod ? b.splat(type, 1.0)
                                              : b.broadcast(slices, shape);
  Value spread = b.create<nn::SelectOp>(
      type, isThere, b.broadcast(b.reshape(updates, {count, 1, width}), shape),
      neutral);
  Value combined = b.reduce(kind, spread, /*axes=*/0, /*keepAxes=*/true);
  return b.reshape(combineTwo(b, kind, slices, combined), getShape(table));
}

FailureOr<FlatIndex> pipewright::indexElements(OnnxNode &node, Value table,
                                               Value indices, int64_t axis) {
  NNBuilder &b = node.getBuilder();
  ArrayRef<int64_t> sizes = getShape(table), shape = getShape(indices);
  bool fits = shape.size() == sizes.size();
  for (size_t dim = 0; fits && dim < shape.size(); ++dim)
    fits = int64_t(dim) == axis || shape[dim] <= sizes[dim];
  if (!fits)
    return node.emitError()
           << "cannot take elements of " << table.getType() << " along axis "
           << axis << " for indices " << indices.getType();

  Value wide = b.cast(indices, b.getOpBuilder().getI64Type());
  FlatIndex index;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (dim == axis)
      index.addIndex(b, wide, sizes[dim]);
    else
      index.addAxis(b, b.iota(getTensorType(wide), dim), sizes[dim]);
  return index;
}

FailureOr<FlatIndex> pipewright::indexSlices(OnnxNode &node, Value table,
                                             Value indices, int64_t batchAxes) {
  NNBuilder &b = node.getBuilder();
  ArrayRef<int64_t> sizes = getShape(table), shape = getShape(indices);
  int64_t rank = sizes.size();
  int64_t coordinates = shape.empty() ? 0 : shape.back();
  if (batchAxes < 0 || coordinates < 1 || batchAxes > rank - coordinates ||
      batchAxes >= int64_t(shape.size()) ||
      sizes.take_front(batchAxes) != shape.take_front(batchAxes))
    return node.emitError()
           << "cannot look up " << indices.getType() << " in "
           << table.getType() << " with batch_dims=" << batchAxes;

  FlatIndex index;
  auto type = RankedTensorType::get(shape.drop_back(), getElementType(indices));
  for (int64_t axis = 0; axis < batchAxes; ++axis)
    index.addAxis(b, b.iota(type, axis), sizes[axis]);
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
  SmallVector<int64_t> column(shape);
  column.back() = 1;
  for (int64_t i = 0; i < coordinates; ++i) {
    offsets.back() = i;
    Value coordinate = b.slice(indices, offsets, column, strides);
    index.addIndex(b, b.reshape(coordinate, type.getShape()),
                   sizes[batchAxes + i]);
  }
  return index;
}
