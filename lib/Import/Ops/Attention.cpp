//===- Attention.cpp - Scaled dot product attention
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../AttentionHeads.h"

#include "pipewright/Import/OnnxOpRegistry.h"

#include <limits>

using namespace mlir;
using namespace pipewright;

constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static LogicalResult checkCaches(OnnxNode &node) {
  if (node.hasOperand(4) != node.hasOperand(5))
    return node.emitError() << "has only one of past_key and past_value";
  if (node.hasOperand(4) && node.hasOperand(6))
    return node.emitError() << "has a past and nonpad_kv_seqlen; keys are "
                            << "appended either by the node or before it";
  return success();
}

/// Operand \p i with an axis for its heads. Their number is attribute \p name
/// if the operand has three axes, of which the last is that of all heads.
static FailureOr<Value> getHeads(OnnxNode &node, unsigned i, StringRef name) {
  Value x = node.operand(i);
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() == 4)
    return x;
  if (shape.size() != 3)
    return node.emitError()
           << "needs operands with 3 or 4 axes, not " << x.getType();
  return splitHeads(node, x, node.getInt(name, 0), name);
}

static FailureOr<AttentionHeads> getHeads(OnnxNode &node) {
  FailureOr<Value> query = getHeads(node, 0, "q_num_heads");
  FailureOr<Value> key = getHeads(node, 1, "kv_num_heads");
  FailureOr<Value> value = getHeads(node, 2, "kv_num_heads");
  if (failed(query) || failed(key) || failed(value))
    return failure();
  return appendToPast(node, node.operand(4), node.operand(5),
                      {*query, *key, *value});
}

/// How many keys of each sample count, as an i64; null if all do.
static FailureOr<Value> getCounts(OnnxNode &node, RankedTensorType scores) {
  NNBuilder &b = node.getBuilder();
  Value counts = node.operand(6);
  if (!counts)
    return counts;
  auto type = RankedTensorType::get({scores.getDimSize(0)},
                                    b.getOpBuilder().getI64Type());
  if (counts.getType() != type)
    return node.emitError() << "has nonpad_kv_seqlen " << counts.getType()
                            << " instead of " << type;
  return counts;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// The keys that the position of a query, and \p counts if there are any, let
/// it see.
static FailureOr<Value> getAllowedKeys(OnnxNode &node, RankedTensorType scores,
                                       Value counts) {
  int64_t queries = scores.getDimSize(2), keys = scores.getDimSize(3);
  AttentionWindow window{node.getInt("left_window_size", -1),
                         node.getInt("right_window_size", -1)};
  if (node.getInt("is_causal", 0) != 0)
    window.right = 0;
  if (counts) {
    FailureOr<Value> visible =
        getVisibleKeysUpTo(node, window, counts, queries, keys);
    if (failed(visible))
      return failure();
    return allowBoth(node, *visible,
                     getKeysBefore(node.getBuilder(), counts, keys));
  }
  int64_t past = node.hasOperand(4) ? getShape(node.operand(4))[2] : 0;
  return getVisibleKeys(node, window, /*first=*/past, queries, keys);
}

/// The mask operand. From operator set 24 on it may lack the last keys, which
/// are hidden then.
static Value getMaskOperand(OnnxNode &node, int64_t keys) {
  NNBuilder &b = node.getBuilder();
  Value mask = node.operand(3);
  if (!mask || node.getOpset() < 24 || getShape(mask).empty() ||
      getShape(mask).back() >= keys)
    return mask;
  SmallVector<int64_t> rest(getShape(mask));
  int64_t axis = rest.size() - 1;
  rest[axis] = keys - rest[axis];
  bool isBoolean = getElementType(mask).isInteger(1);
  return b.concat({mask, b.splat(getTensorType(mask).clone(rest),
                                 isBoolean ? 0.0 : minusInfinity)},
                  axis);
}

static FailureOr<AttentionMask> getMask(OnnxNode &node,
                                        RankedTensorType scores) {
  AttentionMask mask;
  FailureOr<Value> counts = getCounts(node, scores);
  if (failed(counts))
    return failure();
  FailureOr<Value> allowed = getAllowedKeys(node, scores, *counts);
  if (failed(allowed))
    return failure();
  mask.allowed = *allowed;
  Value operand = getMaskOperand(node, scores.getDimSize(3));
  if (!operand)
    return mask;
  FailureOr<Value> wide = widenMask(node, operand, scores);
  if (failed(wide))
    return failure();
  if (!getElementType(*wide).isInteger(1)) {
    if (failed(addBias(node, *wide, mask)))
      return failure();
    return mask;
  }
  allowed = allowBoth(node, mask.allowed, *wide);
  if (failed(allowed))
    return failure();
  mask.allowed = *allowed;
  return mask;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The type in which the softmax is computed, if the node says it.
static LogicalResult setSoftmaxType(OnnxNode &node, AttentionFormula &formula) {
  if (!node.hasAttribute("softmax_precision"))
    return success();
  FailureOr<Type> type =
      node.getElementType(node.getInt("softmax_precision", 0));
  if (failed(type))
    return failure();
  formula.softmaxType = dyn_cast<FloatType>(*type);
  if (formula.softmaxType)
    return success();
  return node.emitError() << "computes softmax as " << *type
                          << ", which is no floating-point type";
}

/// Result qk_matmul_output: one of the steps.
static FailureOr<Value>
getScoresResult(OnnxNode &node, const AttentionSteps &steps, Value allowed) {
  NNBuilder &b = node.getBuilder();
  switch (int64_t mode = node.getInt("qk_matmul_output_mode", 0)) {
  case 0:
    return steps.scores;
  case 1:
    return steps.capped;
  case 2:
    return allowed ? selectOr(b, allowed, steps.biased, minusInfinity)
                   : steps.biased;
  case 3:
    return clearBlindQueries(b, steps.weights, allowed);
  default:
    return node.emitError() << "has qk_matmul_output_mode=" << mode
                            << ", which is not supported";
  }
}

static LogicalResult importAttention(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  if (failed(checkCaches(node)))
    return failure();
  FailureOr<AttentionHeads> heads = getHeads(node);
  if (failed(heads))
    return failure();
  FailureOr<AttentionMask> mask = getMask(node, getScoresType(*heads));
  AttentionFormula formula = getFormula(node, *heads);
  if (failed(mask) || failed(setSoftmaxType(node, formula)))
    return failure();
  AttentionSteps steps = attend(b, *heads, *mask, formula);
  bool hasHeads = getShape(node.operand(0)).size() == 4;
  node.setResult(0, hasHeads ? steps.result : joinHeads(b, steps.result));
  node.setResult(1, heads->key);
  node.setResult(2, heads->value);
  if (!node.hasResult(3))
    return success();
  FailureOr<Value> scores = getScoresResult(node, steps, mask->allowed);
  if (succeeded(scores))
    node.setResult(3, *scores);
  return scores;
}

namespace pipewright {
void registerAttention(OnnxOpRegistry &registry) {
  registry.add("Attention", /*since=*/23, {3, 7}, importAttention);
}
} // namespace pipewright
