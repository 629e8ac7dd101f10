//===- Embedding.cpp - Look-ups by index
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../FlatIndex.h"

#include "pipewright/Import/OnnxOpRegistry.h"

#include "llvm/ADT/StringSwitch.h"

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

/// The index says where along one axis; along the others an element is taken
/// from where it goes.
static FailureOr<Value> importGatherElements(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value table = node.operand(0);
  FailureOr<int64_t> axis =
      node.getAxis(node.getInt("axis", 0), getTensorType(table).getRank());
  if (failed(axis))
    return failure();
  FailureOr<FlatIndex> index =
      indexElements(node, table, node.operand(1), *axis);
  if (failed(index))
    return failure();
  return index->gather(b, table);
}

/// The last axis of the indices holds coordinates in the table's axes after
/// the batch axes, which both share.
static FailureOr<Value> importGatherND(OnnxNode &node) {
  FailureOr<FlatIndex> index = indexSlices(
      node, node.operand(0), node.operand(1), node.getInt("batch_dims", 0));
  if (failed(index))
    return failure();
  return index->gather(node.getBuilder(), node.operand(0));
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// The data combined with updates where \p index says, by \p reduction, which
/// is no sum.
static FailureOr<Value> combine(OnnxNode &node, const FlatIndex &index,
                                StringRef reduction) {
  auto kind = llvm::StringSwitch<std::optional<nn::Reduction>>(reduction)
                  .Case("mul", nn::Reduction::Prod)
                  .Case("max", nn::Reduction::Max)
                  .Case("min", nn::Reduction::Min)
                  .Default(std::nullopt);
  if (!kind)
    return node.emitError()
           << "has reduction '" << reduction << "', which is not supported";
  Value data = node.operand(0), updates = node.operand(2);
  if (getTensorType(updates).getNumElements() == 0)
    return data;
  Value combined = index.combine(node.getBuilder(), *kind, updates, data);
  if (!combined)
    return node.emitError()
           << "has reduction '" << reduction << "' of " << updates.getType()
           << " into " << data.getType() << ", which is too large";
  return combined;
}

/// Whether all elements of \p value, which may be a parameter, are 0.
static bool isZero(ImportContext &context, Value value) {
  DenseElementsAttr known = context.getKnown(value);
  if (!known)
    return false;
  if (isa<FloatType>(known.getElementType()))
    return llvm::all_of(known.getValues<APFloat>(),
                        [](const APFloat &value) { return value.isZero(); });
  return llvm::all_of(known.getValues<APInt>(),
                      [](const APInt &value) { return value.isZero(); });
}

/// The data with updates where \p index says: in place of what is there, or
/// combined with it. Indices that repeat have no meaning without a reduction.
static FailureOr<Value> scatter(OnnxNode &node, const FlatIndex &index) {
  NNBuilder &b = node.getBuilder();
  StringRef reduction = node.getString("reduction", "none");
  Value data = node.operand(0), updates = node.operand(2);
  Type element = getElementType(data);
  if (getElementType(updates) != element)
    return node.emitError()
           << "puts " << updates.getType() << " into " << data.getType();
  if (reduction != "none" && reduction != "add")
    return combine(node, index, reduction);
  // Sums are of floating point; an f64 holds the integers that occur.
  Type computed = isa<FloatType>(element)
                      ? element
                      : Float64Type::get(element.getContext());
  Value sums = index.scatter(b, b.cast(updates, computed), data);
  if (reduction == "add")
    return b.cast(b.create<nn::AddOp>(b.cast(data, computed), sums), element);
  if (isZero(node.getContext(), data))
    return b.cast(sums, element);
  Value ones = b.splat(getTensorType(updates).clone(computed), 1.0);
  Value marks = index.scatter(b, ones, data);
  Value isUpdated =
      b.compare(nn::Comparison::Greater, marks, b.splatLike(marks, 0.0));
  return b.create<nn::SelectOp>(data.getType(), isUpdated,
                                b.cast(sums, element), data);
}

static FailureOr<Value> importScatterElements(OnnxNode &node) {
  Value data = node.operand(0);
  FailureOr<int64_t> axis =
      node.getAxis(node.getInt("axis", 0), getTensorType(data).getRank());
  if (failed(axis))
    return failure();
  if (getShape(node.operand(1)) != getShape(node.operand(2)))
    return node.emitError() << "has indices " << node.operand(1).getType()
                            << " for updates " << node.operand(2).getType();
  FailureOr<FlatIndex> index =
      indexElements(node, data, node.operand(1), *axis);
  if (failed(index))
    return failure();
  return scatter(node, *index);
}

static FailureOr<Value> importScatterND(OnnxNode &node) {
  FailureOr<FlatIndex> index =
      indexSlices(node, node.operand(0), node.operand(1), /*batchAxes=*/0);
  if (failed(index))
    return failure();
  if (index->getSlicesShape(node.operand(0)) !=
      SmallVector<int64_t>(getShape(node.operand(2))))
    return node.emitError() << "has indices " << node.operand(1).getType()
                            << " and updates " << node.operand(2).getType()
                            << " for data " << node.operand(0).getType();
  return scatter(node, *index);
}

//===----------------------------------------------------------------------===//
// TopK and OneHot
//===----------------------------------------------------------------------===//

/// Results: the elements and their positions.
static LogicalResult importTopK(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  FailureOr<int64_t> axis =
      node.getAxis(node.getInt("axis", -1), getTensorType(x).getRank());
  FailureOr<std::optional<SmallVector<int64_t>>> count =
      node.getIntegers("k", 1, /*since=*/10);
  if (failed(axis) || failed(count))
    return failure();
  SmallVector<int64_t> shape(getShape(x));
  if (!*count || (*count)->size() != 1 || (*count)->front() < 0 ||
      (*count)->front() > shape[*axis])
    return node.emitError()
           << "needs one number of elements, at most " << shape[*axis];
  shape[*axis] = (*count)->front();
  auto type = RankedTensorType::get(shape, b.getOpBuilder().getI64Type());
  Value positions =
      b.create<nn::TopKOp>(type, x, *axis, node.getInt("largest", 1) == 0);
  FailureOr<FlatIndex> index = indexElements(node, x, positions, *axis);
  if (failed(index))
    return failure();
  node.setResult(0, index->gather(b, x));
  node.setResult(1, positions);
  node.setUnsignedBits(1, 0);
  return success();
}

/// 1 where the class axis counts to the index, else 0, both replaced by given
/// numbers.
static FailureOr<Value> importOneHot(OnnxNode &node) {
  node.setUnsignedBits(0, node.getContext().getUnsignedBits(node.operand(2)));
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
  // A negative index counts from the end; beyond both ends nothing is hot.
  Value isNegative =
      b.compare(nn::Comparison::Less, indices, b.splatLike(indices, 0.0));
  Value fromEnd = b.create<nn::AddOp>(indices, b.splatLike(indices, *depth));
  Value index =
      b.create<nn::SelectOp>(indices.getType(), isNegative, fromEnd, indices);
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
  registry.add("Scatter", /*since=*/9, 3, importScatterElements);
  registry.add("ScatterElements", /*since=*/11, 3, importScatterElements);
  registry.add("ScatterND", /*since=*/11, 3, importScatterND);
  registry.add("TopK", /*since=*/1, {1, 2}, importTopK);
}
} // namespace pipewright
