//===- Attention.cpp - Scaled dot product attention
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace pipewright;

namespace {

/// Tensors of [batch, heads, length, size of a head].
struct AttentionHeads {
  Value query, key, value;
};

/// What changes the scores, broadcast to [batch, heads, queries, keys] by
/// NumPy's rule; either may be missing.
struct AttentionMask {
  Value bias;    ///< is added
  Value allowed; ///< which keys a query may see
};

} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Caches are for inference, and the other results for debugging.
static LogicalResult checkIsSupported(OnnxNode &node) {
  static constexpr StringRef operandNames[] = {"past_key", "past_value",
                                               "nonpad_kv_seqlen"};
  for (auto [i, name] : llvm::enumerate(operandNames))
    if (node.hasOperand(4 + i))
      return node.emitError()
             << "has operand " << name << ", which is not supported";
  static constexpr StringRef resultNames[] = {"present_key", "present_value",
                                              "qk_matmul_output"};
  for (auto [i, name] : llvm::enumerate(resultNames))
    if (node.hasResult(1 + i))
      return node.emitError()
             << "has result " << name << ", which is not supported";
  return success();
}

/// Operand \p i with an axis for its heads. Their number is attribute \p name
/// if the operand has three axes, of which the last is that of all heads.
static FailureOr<Value> splitHeads(OnnxNode &node, unsigned i, StringRef name) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(i);
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() == 4)
    return x;
  if (shape.size() != 3)
    return node.emitError()
           << "needs operands with 3 or 4 axes, not " << x.getType();
  int64_t heads = node.getInt(name, 0);
  if (heads < 1 || shape[2] % heads != 0)
    return node.emitError() << "cannot split " << x.getType() << " into "
                            << name << "=" << heads << " heads";
  x = b.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return b.transpose(x, {0, 2, 1, 3});
}

static bool fitTogether(const AttentionHeads &heads) {
  ArrayRef<int64_t> query = getShape(heads.query), key = getShape(heads.key);
  ArrayRef<int64_t> value = getShape(heads.value);
  Type element = getElementType(heads.query);
  return isa<FloatType>(element) && getElementType(heads.key) == element &&
         getElementType(heads.value) == element && query[0] == key[0] &&
         query[3] == key[3] && key.take_front(3) == value.take_front(3) &&
         key[1] > 0 && query[1] % key[1] == 0;
}

static FailureOr<AttentionHeads> getHeads(OnnxNode &node) {
  FailureOr<Value> query = splitHeads(node, 0, "q_num_heads");
  FailureOr<Value> key = splitHeads(node, 1, "kv_num_heads");
  FailureOr<Value> value = splitHeads(node, 2, "kv_num_heads");
  if (failed(query) || failed(key) || failed(value))
    return failure();
  AttentionHeads heads{*query, *key, *value};
  if (!fitTogether(heads))
    return node.emitError()
           << "cannot attend from queries " << query->getType() << " to keys "
           << key->getType() << " with values " << value->getType();
  return heads;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

static bool isAllTrue(Value value) {
  DenseElementsAttr known = getConstant(value);
  return known &&
         llvm::all_of(known.getValues<bool>(), [](bool x) { return x; });
}

/// Sets \p window to the keys that a query may see by its position; to null if
/// these are all.
static LogicalResult getWindow(OnnxNode &node, RankedTensorType scores,
                               Value &window) {
  NNBuilder &b = node.getBuilder();
  int64_t queries = scores.getDimSize(2), keys = scores.getDimSize(3);
  // A negative size means no bound.
  int64_t left = node.getInt("left_window_size", -1);
  int64_t right = node.getInt("right_window_size", -1);
  if (node.getInt("is_causal", 0) != 0)
    right = 0;
  if (left < 0 && right < 0)
    return success();
  constexpr int64_t maxMask = int64_t(1) << 28;
  if (queries * keys > maxMask)
    return node.emitError() << "masks " << scores << ", which is too large";
  SmallVector<bool> isVisible;
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key = 0; key < keys; ++key)
      isVisible.push_back((left < 0 || query - key <= left) &&
                          (right < 0 || key - query <= right));
  auto type =
      RankedTensorType::get({queries, keys}, b.getOpBuilder().getI1Type());
  window = b.constant(DenseElementsAttr::get(type, isVisible));
  return success();
}

/// The mask operand, with four axes; null if there is none.
static FailureOr<Value> getMaskOperand(OnnxNode &node,
                                       RankedTensorType scores) {
  Value mask = node.operand(3);
  if (!mask)
    return mask;
  Type element = getElementType(mask);
  ArrayRef<int64_t> shape = getShape(mask);
  bool hasType = element.isInteger(1) || element == scores.getElementType();
  if (!hasType || getBroadcastShape(shape, scores.getShape()) !=
                      SmallVector<int64_t>(scores.getShape()))
    return node.emitError()
           << "cannot mask " << scores << " by " << mask.getType();
  SmallVector<int64_t> wide(4 - shape.size(), 1);
  wide.append(shape.begin(), shape.end());
  return node.getBuilder().reshape(mask, wide);
}

static FailureOr<AttentionMask> getMask(OnnxNode &node,
                                        RankedTensorType scores) {
  NNBuilder &b = node.getBuilder();
  Value window;
  FailureOr<Value> operand = getMaskOperand(node, scores);
  if (failed(operand) || failed(getWindow(node, scores, window)))
    return failure();
  AttentionMask mask;
  if (*operand && getElementType(*operand).isInteger(1)) {
    mask.allowed = *operand;
  } else if (*operand) {
    mask.bias = *operand;
    double never = -std::numeric_limits<double>::infinity();
    mask.allowed = b.compare(nn::Comparison::NotEqual, mask.bias,
                             b.splatLike(mask.bias, never));
  }
  if (window && mask.allowed) {
    SmallVector<Value> both{mask.allowed, window};
    if (failed(node.broadcastTogether(both)))
      return failure();
    mask.allowed = b.create<nn::AndOp>(both[0], both[1]);
  } else if (window) {
    mask.allowed =
        b.reshape(window, {1, 1, scores.getDimSize(2), scores.getDimSize(3)});
  }
  if (mask.allowed && isAllTrue(mask.allowed))
    mask.allowed = Value();
  return mask;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static Value selectOr(NNBuilder &b, Value condition, Value value,
                      double otherwise) {
  return b.create<nn::SelectOp>(value.getType(),
                                b.broadcast(condition, getShape(value)), value,
                                b.splatLike(value, otherwise));
}

/// One product for all query heads that share a key head: their rows are those
/// of one matrix, so that neither keys nor values are repeated.
static Value multiplyGroups(NNBuilder &b, Value lhs, Value rhs,
                            bool transposeRight) {
  ArrayRef<int64_t> left = getShape(lhs), right = getShape(rhs);
  int64_t rows = left[1] / right[1] * left[2];
  int64_t columns = right[transposeRight ? 2 : 3];
  Value groups = b.reshape(lhs, {left[0], right[1], rows, left[3]});
  RankedTensorType type =
      getTensorType(lhs).clone({left[0], right[1], rows, columns});
  Value product = b.create<nn::MatMulOp>(
      type, groups, rhs, /*transpose_lhs=*/false, transposeRight);
  return b.reshape(product, {left[0], left[1], left[2], columns});
}

static Value getScores(OnnxNode &node, const AttentionHeads &heads) {
  NNBuilder &b = node.getBuilder();
  double size = getShape(heads.query).back();
  Value query =
      b.scale(heads.query, node.getFloat("scale", 1.0 / std::sqrt(size)));
  Value scores = multiplyGroups(b, query, heads.key, /*transposeRight=*/true);
  double cap = node.getFloat("softcap", 0.0);
  if (cap <= 0.0)
    return scores;
  return b.scale(b.create<nn::TanhOp>(b.scale(scores, 1.0 / cap)), cap);
}

/// The softmax of the masked scores, computed in the type that the node asks
/// for.
static FailureOr<Value> getWeights(OnnxNode &node, Value scores,
                                   const AttentionMask &mask) {
  NNBuilder &b = node.getBuilder();
  Type element = getElementType(scores);
  FailureOr<Type> computed = element;
  if (node.hasAttribute("softmax_precision"))
    computed = node.getElementType(node.getInt("softmax_precision", 0));
  if (failed(computed))
    return failure();
  auto floatType = dyn_cast<FloatType>(*computed);
  if (!floatType)
    return node.emitError() << "computes softmax as " << *computed
                            << ", which is no floating-point type";
  if (mask.bias)
    scores =
        b.create<nn::AddOp>(scores, b.broadcast(mask.bias, getShape(scores)));
  scores = b.cast(scores, floatType);
  // Minus infinity would give NaN in a row of nothing else, and then in all
  // gradients.
  auto lowest = llvm::APFloat::getLargest(floatType.getFloatSemantics(),
                                          /*Negative=*/true);
  if (mask.allowed)
    scores = selectOr(b, mask.allowed, scores, lowest.convertToDouble());
  return b.cast(b.create<nn::SoftmaxOp>(scores, /*axis=*/3), element);
}

/// A query that may see no key gets zeros.
static Value clearBlindQueries(NNBuilder &b, Value result, Value allowed) {
  Value isAllowed = b.cast(allowed, b.getOpBuilder().getI8Type());
  Value count = b.reduce(nn::Reduction::Max, isAllowed, /*axes=*/{3},
                         /*keepAxes=*/true);
  Value seesAny =
      b.compare(nn::Comparison::NotEqual, count, b.splatLike(count, 0.0));
  return isAllTrue(seesAny) ? result : selectOr(b, seesAny, result, 0.0);
}

static FailureOr<Value> importAttention(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  if (failed(checkIsSupported(node)))
    return failure();
  FailureOr<AttentionHeads> heads = getHeads(node);
  if (failed(heads))
    return failure();
  Value scores = getScores(node, *heads);
  FailureOr<AttentionMask> mask = getMask(node, getTensorType(scores));
  if (failed(mask))
    return failure();
  FailureOr<Value> weights = getWeights(node, scores, *mask);
  if (failed(weights))
    return failure();
  Value result =
      multiplyGroups(b, *weights, heads->value, /*transposeRight=*/false);
  if (mask->allowed)
    result = clearBlindQueries(b, result, mask->allowed);
  if (getShape(node.operand(0)).size() == 4)
    return result;
  ArrayRef<int64_t> shape = getShape(result);
  return b.reshape(b.transpose(result, {0, 2, 1, 3}),
                   {shape[0], shape[2], shape[1] * shape[3]});
}

namespace pipewright {
void registerAttention(OnnxOpRegistry &registry) {
  registry.add("Attention", /*since=*/23, {3, 7}, importAttention);
}
} // namespace pipewright
