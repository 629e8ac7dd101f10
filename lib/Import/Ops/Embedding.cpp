//===- Embedding.cpp - Look-ups by index
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

static FailureOr<Value> importGather(OnnxNode &node) {
  RankedTensorType table = getTensorType(node.operand(0));
  FailureOr<int64_t> axis =
      node.getAxis(node.getInt("axis", 0), table.getRank());
  if (failed(axis))
    return failure();
  ArrayRef<int64_t> indices = getShape(node.operand(1));
  SmallVector<int64_t> shape(table.getShape().take_front(*axis));
  shape.append(indices.begin(), indices.end());
  llvm::append_range(shape, table.getShape().drop_front(*axis + 1));
  return node.getBuilder().create<nn::GatherOp>(
      table.clone(shape), node.operand(0), node.operand(1), *axis);
}

namespace {
/// The positions of elements in a table whose first axes are one: a number of
/// the form (i0 * size1 + i1) * size2 + i2 for each.
class FlatIndex {
public:
  explicit FlatIndex(NNBuilder &b) : b(b) {}

  /// The next axis has \p size elements, of which \p coordinate is one.
  void addAxis(Value coordinate, int64_t size) {
    if (position) {
      Value stride = b.splatLike(position, size);
      position = b.create<nn::MulOp>(position, stride);
      coordinate = b.create<nn::AddOp>(position, coordinate);
    }
    position = coordinate;
    elements *= size;
  }

  /// As above for a coordinate that counts from the end where it is negative.
  void addIndex(Value index, int64_t size) {
    addAxis(b.create<nn::ModOp>(index, b.splatLike(index, size)), size);
  }

  /// The elements of \p table, whose axes after the added ones stay.
  Value gather(Value table, int64_t axes) const {
    SmallVector<int64_t> flat = {elements}, result(getShape(position));
    llvm::append_range(flat, getShape(table).drop_front(axes));
    llvm::append_range(result, getShape(table).drop_front(axes));
    return b.create<nn::GatherOp>(getTensorType(table).clone(result),
                                  b.reshape(table, flat), position, /*axis=*/0);
  }

private:
  NNBuilder &b;
  Value position;
  int64_t elements = 1;
};
} // namespace

/// The index says where along one axis; along the others an element is taken
/// from where it goes.
static FailureOr<Value> importGatherElements(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value table = node.operand(0);
  Value indices = b.cast(node.operand(1), b.getOpBuilder().getI64Type());
  ArrayRef<int64_t> sizes = getShape(table), shape = getShape(indices);
  FailureOr<int64_t> axis =
      node.getAxis(node.getInt("axis", 0), getTensorType(table).getRank());
  if (failed(axis))
    return failure();
  bool fits = shape.size() == sizes.size();
  for (size_t dim = 0; fits && dim < shape.size(); ++dim)
    fits = int64_t(dim) == *axis || shape[dim] <= sizes[dim];
  if (!fits)
    return node.emitError()
           << "cannot take elements of " << table.getType() << " along axis "
           << *axis << " for indices " << node.operand(1).getType();

  FlatIndex index(b);
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (dim == *axis)
      index.addIndex(indices, sizes[dim]);
    else
      index.addAxis(b.iota(getTensorType(indices), dim), sizes[dim]);
  return index.gather(table, sizes.size());
}

/// The last axis of the indices holds coordinates in the table's axes after
/// the batch axes, which both share.
static FailureOr<Value> importGatherND(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value table = node.operand(0), indices = node.operand(1);
  ArrayRef<int64_t> sizes = getShape(table), shape = getShape(indices);
  int64_t rank = sizes.size(), batchAxes = node.getInt("batch_dims", 0);
  int64_t coordinates = shape.empty() ? 0 : shape.back();
  if (batchAxes < 0 || coordinates < 1 || batchAxes + coordinates > rank ||
      batchAxes >= int64_t(shape.size()) ||
      sizes.take_front(batchAxes) != shape.take_front(batchAxes))
    return node.emitError()
           << "cannot look up " << indices.getType() << " in "
           << table.getType() << " with batch_dims=" << batchAxes;

  FlatIndex index(b);
  auto type = RankedTensorType::get(shape.drop_back(), getElementType(indices));
  for (int64_t axis = 0; axis < batchAxes; ++axis)
    index.addAxis(b.iota(type, axis), sizes[axis]);
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
  SmallVector<int64_t> column(shape);
  column.back() = 1;
  for (int64_t i = 0; i < coordinates; ++i) {
    offsets.back() = i;
    Value coordinate = b.slice(indices, offsets, column, strides);
    index.addIndex(b.reshape(coordinate, type.getShape()),
                   sizes[batchAxes + i]);
  }
  return index.gather(table, batchAxes + coordinates);
}

/// 1 where the class axis counts to the index, else 0, both replaced by given
/// numbers.
static FailureOr<Value> importOneHot(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value indices = node.operand(0);
  FailureOr<double> depth = node.getNumber(1);
  if (failed(depth))
    return failure();
  constexpr double maxDepth = 1 << 24;
  if (!(*depth >= 1 && *depth <= maxDepth) ||
      getTensorType(node.operand(2)).getNumElements() != 2 ||
      getTensorType(node.operand(2)).getRank() != 1)
    return node.emitError() << "needs a depth from 1 to 2^24 and two values";
  int64_t rank = getTensorType(indices).getRank() + 1;
  FailureOr<int64_t> axis = node.getAxis(node.getInt("axis", -1), rank);
  if (failed(axis))
    return failure();

  SmallVector<int64_t> kept(getShape(indices));
  kept.insert(kept.begin() + *axis, 1);
  SmallVector<int64_t> shape(kept);
  shape[*axis] = int64_t(*depth);
  auto type = RankedTensorType::get(shape, getElementType(indices));
  // A negative index counts from the end.
  Value count = b.splatLike(indices, *depth);
  Value index = b.create<nn::ModOp>(indices, count);
  Value isHot = b.compare(nn::Comparison::Equal,
                          b.broadcast(b.reshape(index, kept), shape),
                          b.iota(type, *axis));
  auto pick = [&](int64_t i) {
    Value value = b.slice(node.operand(2), {i}, {1}, {1});
    return b.broadcast(b.reshape(value, {}), shape);
  };
  Value on = pick(1);
  return b.create<nn::SelectOp>(on.getType(), isHot, on, pick(0));
}

namespace pipewright {
void registerEmbedding(OnnxOpRegistry &registry) {
  registry.add("Gather", /*since=*/1, 2, importGather);
  registry.add("GatherElements", /*since=*/11, 2, importGatherElements);
  registry.add("GatherND", /*since=*/11, 2, importGatherND);
  registry.add("OneHot", /*since=*/9, 3, importOneHot);
}
} // namespace pipewright
