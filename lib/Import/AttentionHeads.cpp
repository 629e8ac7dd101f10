//===- AttentionHeads.cpp - Scaled dot product attention
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionHeads.h"

#include "pipewright/Dialect/NN/TensorSize.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

FailureOr<Value> pipewright::splitHeads(OnnxNode &node, Value x, int64_t heads,
                                        StringRef name) {
  NNBuilder &b = node.getBuilder();
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0)
    return node.emitError() << "cannot split " << x.getType() << " into "
                            << name << "=" << heads << " heads";
  x = b.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return b.transpose(x, {0, 2, 1, 3});
}

Value pipewright::joinHeads(NNBuilder &b, Value heads) {
  ArrayRef<int64_t> shape = getShape(heads);
  return b.reshape(b.transpose(heads, {0, 2, 1, 3}),
                   {shape[0], shape[2], shape[1] * shape[3]});
}

static bool fitTogether(const AttentionHeads &heads) {
  ArrayRef<int64_t> query = getShape(heads.query), key = getShape(heads.key);
  ArrayRef<int64_t> value = getShape(heads.value);
  Type element = getElementType(heads.query);
  return query.size() == 4 && key.size() == 4 && value.size() == 4 &&
         isa<FloatType>(element) && getElementType(heads.key) == element &&
         getElementType(heads.value) == element && query[0] == key[0] &&
         query[3] == key[3] && key.take_front(3) == value.take_front(3) &&
         key[1] > 0 && query[1] % key[1] == 0;
}

LogicalResult pipewright::checkHeads(OnnxNode &node,
                                     const AttentionHeads &heads) {
  if (fitTogether(heads))
    return success();
  return node.emitError() << "cannot attend from queries "
                          << heads.query.getType() << " to keys "
                          << heads.key.getType() << " with values "
                          << heads.value.getType();
}

RankedTensorType pipewright::getScoresType(const AttentionHeads &heads) {
  ArrayRef<int64_t> query = getShape(heads.query);
  return getTensorType(heads.query)
      .clone({query[0], query[1], query[2], getShape(heads.key)[2]});
}

FailureOr<Value> pipewright::appendToPast(OnnxNode &node, Value past, Value x) {
  if (!past)
    return x;
  RankedTensorType type = getTensorType(past);
  SmallVector<int64_t> shape(getShape(x));
  if (type.getRank() == 4)
    shape[2] = type.getDimSize(2);
  if (type != getTensorType(x).clone(shape))
    return node.emitError()
           << "cannot append " << x.getType() << " to the past " << type;
  return node.getBuilder().concat({past, x}, /*axis=*/2);
}

FailureOr<AttentionHeads> pipewright::appendToPast(OnnxNode &node,
                                                   Value pastKey,
                                                   Value pastValue,
                                                   AttentionHeads heads) {
  FailureOr<Value> key = appendToPast(node, pastKey, heads.key);
  FailureOr<Value> value = appendToPast(node, pastValue, heads.value);
  if (failed(key) || failed(value))
    return failure();
  heads.key = *key;
  heads.value = *value;
  if (failed(checkHeads(node, heads)))
    return failure();
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

FailureOr<Value> pipewright::getVisibleKeys(OnnxNode &node,
                                            const AttentionWindow &window,
                                            int64_t first, int64_t queries,
                                            int64_t keys) {
  if (window.isUnbounded())
    return Value();
  NNBuilder &b = node.getBuilder();
  auto type = RankedTensorType::get({1, 1, queries, keys},
                                    b.getOpBuilder().getI1Type());
  constexpr int64_t maxMask = int64_t(1) << 28;
  if (!nn::hasReasonableSize({queries, keys}) || queries * keys > maxMask)
    return node.emitError() << "masks by " << type << ", which is too large";
  SmallVector<bool> isVisible;
  for (int64_t query = first; query < first + queries; ++query)
    for (int64_t key = 0; key < keys; ++key)
      isVisible.push_back((window.left < 0 || query - key <= window.left) &&
                          (window.right < 0 || key - query <= window.right));
  return b.constant(DenseElementsAttr::get(type, isVisible));
}

FailureOr<Value> pipewright::getVisibleKeysUpTo(OnnxNode &node,
                                                const AttentionWindow &window,
                                                Value ends, int64_t queries,
                                                int64_t keys) {
  NNBuilder &b = node.getBuilder();
  // The first query may lie before the first key by all queries.
  FailureOr<Value> rows =
      getVisibleKeys(node, window, /*first=*/-queries, queries + keys, keys);
  if (failed(rows) || !*rows)
    return rows;
  int64_t batch = getShape(ends)[0];
  RankedTensorType type = getTensorType(ends).clone({batch, queries});
  Value row = b.create<nn::AddOp>(
      b.broadcast(b.reshape(ends, {batch, 1}), type.getShape()),
      b.iota(type, /*axis=*/1));
  Value table = b.reshape(*rows, {queries + keys, keys});
  Value visible = b.create<nn::GatherOp>(
      getTensorType(table).clone({batch, queries, keys}), table, row,
      /*axis=*/0);
  return b.reshape(visible, {batch, 1, queries, keys});
}

Value pipewright::getKeysBefore(NNBuilder &b, Value ends, int64_t keys) {
  RankedTensorType type =
      getTensorType(ends).clone({getShape(ends)[0], 1, 1, keys});
  Value end = b.reshape(ends, {type.getDimSize(0), 1, 1, 1});
  Value position = b.iota(type, /*axis=*/3);
  return b.compare(nn::Comparison::Less, position,
                   b.broadcast(end, type.getShape()));
}

FailureOr<Value> pipewright::allowBoth(OnnxNode &node, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  SmallVector<Value> both{lhs, rhs};
  if (failed(node.broadcastTogether(both)))
    return failure();
  return node.getBuilder().create<nn::AndOp>(both[0], both[1]);
}

FailureOr<Value> pipewright::widenMask(OnnxNode &node, Value mask,
                                       RankedTensorType scores) {
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

LogicalResult pipewright::addBias(OnnxNode &node, Value bias,
                                  AttentionMask &mask) {
  NNBuilder &b = node.getBuilder();
  double never = -std::numeric_limits<double>::infinity();
  Value isFinite =
      b.compare(nn::Comparison::NotEqual, bias, b.splatLike(bias, never));
  FailureOr<Value> allowed = allowBoth(node, mask.allowed, isFinite);
  if (failed(allowed))
    return failure();
  mask.allowed = *allowed;
  if (mask.bias) {
    SmallVector<Value> both{mask.bias, bias};
    if (failed(node.broadcastTogether(both)))
      return failure();
    bias = b.create<nn::AddOp>(both[0], both[1]);
  }
  mask.bias = bias;
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

double pipewright::getLowest(FloatType type) {
  return llvm::APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true)
      .convertToDouble();
}

Value pipewright::selectOr(NNBuilder &b, Value condition, Value value,
                           double otherwise) {
  condition = b.broadcast(condition, getShape(value));
  return b.create<nn::SelectOp>(value.getType(), condition, value,
                                b.splatLike(value, otherwise));
}

Value pipewright::clearBlindQueries(NNBuilder &b, Value perQuery,
                                    Value allowed) {
  if (!allowed)
    return perQuery;
  Value isAllowed = b.cast(allowed, b.getOpBuilder().getI8Type());
  Value count = b.reduce(nn::Reduction::Max, isAllowed, /*axes=*/{3},
                         /*keepAxes=*/true);
  Value seesAny =
      b.compare(nn::Comparison::NotEqual, count, b.splatLike(count, 0.0));
  return isAllTrue(seesAny) ? perQuery : selectOr(b, seesAny, perQuery, 0.0);
}

AttentionFormula pipewright::getFormula(OnnxNode &node,
                                        const AttentionHeads &heads) {
  double size = getShape(heads.query).back();
  double scale = node.getFloat("scale", 0.0);
  AttentionFormula formula;
  formula.scale = scale == 0.0 ? 1.0 / std::sqrt(size) : scale;
  formula.softcap = node.getFloat("softcap", 0.0);
  formula.softmaxType = cast<FloatType>(getElementType(heads.query));
  return formula;
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

static Value softmax(NNBuilder &b, Value scores, Value sink) {
  constexpr int64_t axis = 3;
  if (!sink)
    return b.create<nn::SoftmaxOp>(scores, axis);
  SmallVector<int64_t> column(getShape(scores));
  column[axis] = 1;
  Value score =
      b.reshape(b.cast(sink, getElementType(scores)), {1, column[1], 1, 1});
  Value all = b.concat({scores, b.broadcast(score, column)}, axis);
  return b.sliceAxis(b.create<nn::SoftmaxOp>(all, axis), axis, /*offset=*/0,
                     getShape(scores)[axis]);
}

/// Sets the steps up to the scores with a bias.
static void computeScores(NNBuilder &b, const AttentionHeads &heads, Value bias,
                          const AttentionFormula &formula,
                          AttentionSteps &steps) {
  steps.scores = multiplyGroups(b, b.scale(heads.query, formula.scale),
                                heads.key, /*transposeRight=*/true);
  steps.capped = steps.scores;
  if (formula.softcap > 0.0)
    steps.capped = b.scale(
        b.create<nn::TanhOp>(b.scale(steps.scores, 1.0 / formula.softcap)),
        formula.softcap);
  steps.biased = steps.capped;
  if (bias)
    steps.biased = b.create<nn::AddOp>(
        steps.capped, b.broadcast(bias, getShape(steps.capped)));
}

AttentionSteps pipewright::attend(NNBuilder &b, const AttentionHeads &heads,
                                  const AttentionMask &mask,
                                  const AttentionFormula &formula) {
  AttentionSteps steps;
  computeScores(b, heads, mask.bias, formula, steps);
  Value allowed = mask.allowed;
  if (allowed && isAllTrue(allowed))
    allowed = Value();
  steps.masked = b.cast(steps.biased, formula.softmaxType);
  // Minus infinity would give NaN in a row of nothing else, and then in all
  // gradients.
  if (allowed)
    steps.masked =
        selectOr(b, allowed, steps.masked, getLowest(formula.softmaxType));
  steps.weights = b.cast(softmax(b, steps.masked, formula.sink),
                         getElementType(heads.query));
  steps.result = clearBlindQueries(
      b,
      multiplyGroups(b, steps.weights, heads.value, /*transposeRight=*/false),
      allowed);
  return steps;
}
