//===- FusedAttention.cpp - Attention of ONNX Runtime's fusions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusedAttention.h"

using namespace mlir;
using namespace pipewright;

LogicalResult
pipewright::checkIsUnshared(OnnxNode &node,
                            ArrayRef<std::pair<unsigned, StringRef>> operands) {
  for (auto [i, name] : operands)
    if (node.hasOperand(i))
      return node.emitError()
             << "has operand " << name << ", which is not supported";
  for (StringRef name : {"past_present_share_buffer", "do_rotary"})
    if (node.getInt(name, 0) != 0)
      return node.emitError() << "has " << name << "=1, which is not supported";
  return success();
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Which keys the integers \p mask leave visible: lengths [batch], ends and
/// starts [2 * batch], or 0 for hidden keys, [batch, keys] or [batch, queries,
/// keys].
static FailureOr<Value> getUnpaddedKeys(OnnxNode &node, Value mask,
                                        RankedTensorType scores) {
  NNBuilder &b = node.getBuilder();
  int64_t batch = scores.getDimSize(0), keys = scores.getDimSize(3);
  ArrayRef<int64_t> shape = getShape(mask);
  if (!isa<IntegerType>(getElementType(mask)))
    return node.emitError()
           << "has mask " << mask.getType() << ", which does not hold integers";
  if (shape == ArrayRef<int64_t>{batch})
    return getKeysBefore(b, mask, keys);
  if (shape == ArrayRef<int64_t>{2 * batch}) {
    Value ends = b.sliceAxis(mask, /*axis=*/0, /*offset=*/0, batch);
    Value starts = b.sliceAxis(mask, /*axis=*/0, batch, batch);
    return b.create<nn::AndOp>(
        getKeysBefore(b, ends, keys),
        b.create<nn::NotOp>(getKeysBefore(b, starts, keys)));
  }
  SmallVector<int64_t> wide{batch, 1, 1, keys};
  if (shape == ArrayRef<int64_t>{batch, scores.getDimSize(2), keys})
    wide[2] = scores.getDimSize(2);
  else if (shape != ArrayRef<int64_t>{batch, keys})
    return node.emitError()
           << "cannot mask " << scores << " by " << mask.getType()
           << "; masks of lengths, of ends and starts, of keys and of queries "
              "by keys are supported";
  Value isVisible =
      b.compare(nn::Comparison::Greater, mask, b.splatLike(mask, 0.0));
  return b.reshape(isVisible, wide);
}

static FailureOr<AttentionMask> getMask(OnnxNode &node, RankedTensorType scores,
                                        const FusedOperands &operands) {
  NNBuilder &b = node.getBuilder();
  int64_t queries = scores.getDimSize(2), keys = scores.getDimSize(3);
  int64_t past = operands.pastKey ? getShape(operands.pastKey)[2] : 0;
  AttentionMask mask;
  if (node.getInt("unidirectional", 0) != 0) {
    if (queries + past != keys)
      return node.emitError() << "has unidirectional=1 for " << queries
                              << " queries and " << keys - past << " keys";
    FailureOr<Value> visible =
        getVisibleKeys(node, {/*left=*/-1, /*right=*/0}, past, queries, keys);
    if (failed(visible))
      return failure();
    mask.allowed = *visible;
  }
  if (node.hasOperand(operands.mask)) {
    FailureOr<Value> visible =
        getUnpaddedKeys(node, node.operand(operands.mask), scores);
    if (failed(visible))
      return failure();
    // A hidden key gets a number, not nothing: a sample of nothing but padding
    // has even weights.
    auto element = cast<FloatType>(scores.getElementType());
    RankedTensorType type = getTensorType(*visible).clone(element);
    double filter = std::max(node.getFloat("mask_filter_value", -10000.0),
                             getLowest(element));
    mask.bias = b.create<nn::SelectOp>(type, *visible, b.splat(type, 0.0),
                                       b.splat(type, filter));
  }
  if (!node.hasOperand(operands.bias))
    return mask;
  FailureOr<Value> added = widenMask(node, node.operand(operands.bias), scores);
  if (failed(added) || failed(addBias(node, *added, mask)))
    return failure();
  return mask;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// \p x with an axis for its heads, if it has none.
static FailureOr<Value> getHeads(OnnxNode &node, Value x) {
  if (getShape(x).size() == 4)
    return x;
  return splitHeads(node, x, node.getInt("num_heads", 0), "num_heads");
}

/// The heads with those of the past, if there is one.
static FailureOr<AttentionHeads> getHeads(OnnxNode &node,
                                          const Projections &projections,
                                          const FusedOperands &operands) {
  FailureOr<Value> query = getHeads(node, projections.query);
  FailureOr<Value> key = getHeads(node, projections.key);
  FailureOr<Value> value = getHeads(node, projections.value);
  if (failed(query) || failed(key) || failed(value))
    return failure();
  return appendToPast(node, operands.pastKey, operands.pastValue,
                      {*query, *key, *value});
}

FailureOr<std::pair<AttentionHeads, AttentionSteps>>
pipewright::attend(OnnxNode &node, const Projections &projections,
                   const FusedOperands &operands) {
  FailureOr<AttentionHeads> heads = getHeads(node, projections, operands);
  if (failed(heads))
    return failure();
  FailureOr<AttentionMask> mask =
      getMask(node, getScoresType(*heads), operands);
  if (failed(mask))
    return failure();
  return std::make_pair(*heads, attend(node.getBuilder(), *heads, *mask,
                                       getFormula(node, *heads)));
}
