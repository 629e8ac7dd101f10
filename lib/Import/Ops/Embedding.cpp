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
  registry.add("OneHot", /*since=*/9, 3, importOneHot);
}
} // namespace pipewright
