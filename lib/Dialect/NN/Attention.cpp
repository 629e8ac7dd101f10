//===- Attention.cpp - Verifiers of attention, and what it is made of
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/Attention.h"

#include "Verification.h"
#include "pipewright/Dialect/NN/Create.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::nn;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyMask(AttentionOp op) {
  SmallVector<int64_t> scores = AttentionSizes(op).perHead(
      getShape(op.getKey())[getRank(op.getKey()) - 2]);
  ArrayRef<int64_t> mask = getShape(op.getMask());
  bool fits = mask.size() == scores.size() &&
              llvm::all_of(llvm::zip_equal(mask, scores), [](auto sizes) {
                auto [has, wanted] = sizes;
                return has == wanted || has == 1;
              });
  if (fits)
    return success();
  return op.emitOpError("has a mask of shape ")
         << formatShape(mask) << " for scores of shape " << formatShape(scores);
}

/// Checks what an attention reads.
template <typename OpTy>
static LogicalResult verifyOperands(OpTy op) {
  ArrayRef<int64_t> query = getShape(op.getQuery()),
                    key = getShape(op.getKey());
  if (query.size() < 3 || key.size() != query.size())
    return op.emitOpError("has queries of rank ")
           << query.size() << " and keys of rank " << key.size()
           << "; both must have one rank, at least 3";
  int64_t heads = query[query.size() - 3], groups = key[key.size() - 3];
  if (query.drop_back(3) != key.drop_back(3))
    return op.emitOpError("has batch dimensions ")
           << formatShape(query.drop_back(3)) << " and "
           << formatShape(key.drop_back(3)) << "; they must be equal";
  if (groups == 0 ? heads != 0 : heads % groups != 0)
    return op.emitOpError("cannot share ")
           << groups << " heads of keys among " << heads << " of queries";
  if (query.back() != key.back())
    return op.emitOpError("compares queries of ")
           << query.back() << " numbers with keys of " << key.back();
  int64_t queries = query[query.size() - 2], keys = key[key.size() - 2];
  if (op.getCausal() && queries > keys)
    return op.emitOpError("is causal, but has ")
           << queries << " queries for " << keys << " keys";
  return success();
}

/// Checks that values fit keys, and the result both.
template <typename OpTy>
static LogicalResult verifyResult(OpTy op) {
  SmallVector<int64_t> value(getShape(op.getKey())),
      result(getShape(op.getQuery()));
  if (getRank(op.getValue()) > 0)
    value.back() = result.back() = getShape(op.getValue()).back();
  if (failed(verifyShape(op, "value", op.getValue(), value)))
    return failure();
  return verifyShape(op, "result", op.getResult(), result);
}

/// Checks that there is a number for each query.
template <typename OpTy>
static LogicalResult verifyStatistics(OpTy op) {
  Value statistics = op.getStatistics();
  Type type = getSumType(op.getQuery());
  if (getElementTypeOrSelf(statistics) != type)
    return op.emitOpError("has statistics of ")
           << getElementTypeOrSelf(statistics) << "; they must be of " << type;
  return verifyShape(op, "tensor of statistics", statistics,
                     getShape(op.getQuery()).drop_back());
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyResult(*this)))
    return failure();
  if (getSoftcap() && !(getSoftcap()->convertToDouble() > 0))
    return emitOpError("has a soft cap of ")
           << getSoftcap()->convertToDouble() << "; it must be above 0";
  return getMask() ? verifyMask(*this) : success();
}

LogicalResult AttentionWithStatisticsOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyResult(*this)))
    return failure();
  return verifyStatistics(*this);
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyResult(*this)))
    return failure();
  return verifyStatistics(*this);
}

LogicalResult RotaryOp::verify() {
  ArrayRef<int64_t> shape = getShape(getOperand());
  if (!shape.empty() && shape.back() % 2 == 0)
    return success();
  return emitOpError("rotates pairs of ")
         << formatShape(shape) << "; the last axis must have an even size";
}

//===----------------------------------------------------------------------===//
// What attention is made of
//===----------------------------------------------------------------------===//

AttentionSizes::AttentionSizes(Value query, Value key, Value value) {
  ArrayRef<int64_t> rows = getShape(query), columns = getShape(key);
  batch = llvm::to_vector(rows.drop_back(3));
  groups = columns[columns.size() - 3];
  headsPerGroup = groups ? rows[rows.size() - 3] / groups : 1;
  queries = rows[rows.size() - 2];
  keys = columns[columns.size() - 2];
  size = rows.back();
  valueSize = getShape(value).back();
}

SmallVector<int64_t> AttentionSizes::perHead(int64_t columns) const {
  SmallVector<int64_t> shape(batch);
  shape.append({groups * headsPerGroup, queries, columns});
  return shape;
}

SmallVector<int64_t> AttentionSizes::perGroup(int64_t columns) const {
  SmallVector<int64_t> shape(batch);
  shape.append({groups, headsPerGroup * queries, columns});
  return shape;
}

Type nn::getSumType(Value query) {
  Type element = getElementTypeOrSelf(query);
  return element.isF64() ? element : Float32Type::get(query.getContext());
}

/// Whether query i sees key j, as a matrix.
static Value createCausalMask(OpBuilder &builder, Location loc,
                              const AttentionSizes &sizes) {
  SmallVector<bool> isSeen;
  isSeen.reserve(sizes.queries * sizes.keys);
  for (int64_t i = 0; i < sizes.queries; ++i)
    for (int64_t j = 0; j < sizes.keys; ++j)
      isSeen.push_back(j <= i + sizes.keys - sizes.queries);
  auto type =
      RankedTensorType::get({sizes.queries, sizes.keys}, builder.getI1Type());
  return ConstantOp::create(builder, loc, type,
                            DenseElementsAttr::get(type, isSeen));
}

/// The scores of keys that a query does not see are the lowest number.
static Value hideLaterKeys(OpBuilder &builder, Location loc, Value scores,
                           const AttentionSizes &sizes) {
  Value isSeen = createBroadcast(
      builder, loc, createCausalMask(builder, loc, sizes), getShape(scores));
  auto element = cast<FloatType>(getElementTypeOrSelf(scores));
  double lowest =
      APFloat::getLargest(element.getFloatSemantics(), /*Negative=*/true)
          .convertToDouble();
  return SelectOp::create(builder, loc, scores.getType(), isSeen, scores,
                          createSplatLike(builder, loc, scores, lowest));
}

/// A softmax is no number where a mask hides all keys: such weights are 0.
static Value clearHiddenRows(OpBuilder &builder, Location loc, Value weights) {
  Type condition =
      cast<RankedTensorType>(weights.getType()).clone(builder.getI1Type());
  Value isNan = CompareOp::create(builder, loc, condition, Comparison::NotEqual,
                                  weights, weights);
  return SelectOp::create(builder, loc, weights.getType(), isNan,
                          createSplatLike(builder, loc, weights, 0), weights);
}

/// \p value times \p factor.
static Value createScaled(OpBuilder &builder, Location loc, Value value,
                          double factor) {
  if (factor == 1)
    return value;
  return MulOp::create(builder, loc, value,
                       createSplatLike(builder, loc, value, factor));
}

/// The matrices Q K^T of \p op times \p scale, of its sum type and of the shape
/// `perGroup(keys)`.
template <typename OpTy>
static Value createScaledProduct(OpBuilder &builder, OpTy op, double scale) {
  Location loc = op.getLoc();
  AttentionSizes sizes(op);
  auto type = RankedTensorType::get(sizes.perGroup(sizes.keys),
                                    getSumType(op.getQuery()));
  Value query =
      createReshape(builder, loc, op.getQuery(), sizes.perGroup(sizes.size));
  Value product =
      MatMulOp::create(builder, loc, type, query, op.getKey(),
                       /*transpose_lhs=*/false, /*transpose_rhs=*/true);
  return createScaled(builder, loc, product, scale);
}

Value nn::createCapFraction(OpBuilder &builder, AttentionOp op) {
  double scale = op.getScale().convertToDouble();
  double cap = op.getSoftcap()->convertToDouble();
  return TanhOp::create(builder, op.getLoc(),
                        createScaledProduct(builder, op, scale / cap));
}

/// The scores before any mask, one matrix a group.
static Value createScores(OpBuilder &builder, AttentionOp op) {
  if (!op.getSoftcap())
    return createScaledProduct(builder, op, op.getScale().convertToDouble());
  return createScaled(builder, op.getLoc(), createCapFraction(builder, op),
                      op.getSoftcap()->convertToDouble());
}

Value nn::createAttentionWeights(OpBuilder &builder, AttentionOp op) {
  Location loc = op.getLoc();
  AttentionSizes sizes(op);
  SmallVector<int64_t> perHead = sizes.perHead(sizes.keys);
  Value scores =
      createReshape(builder, loc, createScores(builder, op), perHead);
  if (Value mask = op.getMask()) {
    mask = createCast(builder, loc, mask, getSumType(op.getQuery()));
    scores = AddOp::create(builder, loc, scores,
                           createBroadcast(builder, loc, mask, perHead));
  }
  if (op.getCausal())
    scores = hideLaterKeys(builder, loc, scores, sizes);
  Value weights =
      SoftmaxOp::create(builder, loc, scores, /*axis=*/perHead.size() - 1);
  if (op.getMask())
    weights = clearHiddenRows(builder, loc, weights);
  return createReshape(builder, loc, weights, sizes.perGroup(sizes.keys));
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

/// The scores of \p op, an attention with statistics or its gradient, one
/// matrix a head.
template <typename OpTy>
static Value createSeenScores(OpBuilder &builder, OpTy op) {
  Location loc = op.getLoc();
  AttentionSizes sizes(op);
  Value product =
      createScaledProduct(builder, op, op.getScale().convertToDouble());
  Value scores =
      createReshape(builder, loc, product, sizes.perHead(sizes.keys));
  return op.getCausal() ? hideLaterKeys(builder, loc, scores, sizes) : scores;
}

/// \p value, which has a number for each row of \p scores, for all of the row.
static Value repeatInRows(OpBuilder &builder, Location loc, Value value,
                          Value scores) {
  SmallVector<int64_t> column(getShape(value));
  column.push_back(1);
  return createBroadcast(builder, loc,
                         createReshape(builder, loc, value, column),
                         getShape(scores));
}

/// exp(scores - \p perRow).
static Value createExponentials(OpBuilder &builder, Location loc, Value scores,
                                Value perRow) {
  Value shifted = SubOp::create(builder, loc, scores,
                                repeatInRows(builder, loc, perRow, scores));
  return ExpOp::create(builder, loc, shifted);
}

Value nn::createStatistics(OpBuilder &builder, AttentionWithStatisticsOp op) {
  Location loc = op.getLoc();
  Type type = op.getStatistics().getType();
  Value scores = createSeenScores(builder, op);
  int64_t axis = getRank(scores) - 1;
  Value largest =
      ReduceOp::create(builder, loc, type, Reduction::Max, scores, axis);
  Value exponentials = createExponentials(builder, loc, scores, largest);
  Value sum =
      ReduceOp::create(builder, loc, type, Reduction::Sum, exponentials, axis);
  return AddOp::create(builder, loc, largest, LogOp::create(builder, loc, sum));
}

template <typename OpTy>
static Value createWeights(OpBuilder &builder, OpTy op, Value statistics) {
  AttentionSizes sizes(op);
  Value weights = createExponentials(builder, op.getLoc(),
                                     createSeenScores(builder, op), statistics);
  return createReshape(builder, op.getLoc(), weights,
                       sizes.perGroup(sizes.keys));
}

Value nn::createAttentionWeights(OpBuilder &builder,
                                 AttentionWithStatisticsOp op,
                                 Value statistics) {
  return createWeights(builder, op, statistics);
}

Value nn::createAttentionWeights(OpBuilder &builder, AttentionGradOp op) {
  return createWeights(builder, op, op.getStatistics());
}

//===----------------------------------------------------------------------===//
// Rotary positions
//===----------------------------------------------------------------------===//

/// One number of each pair.
static Value createHalf(OpBuilder &builder, Location loc, Value value,
                        bool second, bool interleaved) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() /= 2;
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
  offsets.back() = second ? (interleaved ? 1 : shape.back()) : 0;
  strides.back() = interleaved ? 2 : 1;
  return SliceOp::create(builder, loc, type.clone(shape), value, offsets,
                         strides);
}

/// Pairs of the numbers of \p first and \p second, in a tensor of type \p type.
static Value createPairs(OpBuilder &builder, Location loc,
                         RankedTensorType type, Value first, Value second,
                         bool interleaved) {
  if (!interleaved)
    return ConcatOp::create(builder, loc, type, ValueRange{first, second},
                            /*axis=*/type.getRank() - 1);
  SmallVector<int64_t> column(getShape(first)), pair;
  column.push_back(1);
  pair = column;
  pair.back() = 2;
  Value pairs =
      ConcatOp::create(builder, loc, type.clone(pair),
                       ValueRange{createReshape(builder, loc, first, column),
                                  createReshape(builder, loc, second, column)},
                       /*axis=*/type.getRank());
  return createReshape(builder, loc, pairs, type.getShape());
}

Value nn::createRotatedPairs(OpBuilder &builder, Location loc, Value value,
                             bool interleaved) {
  auto type = cast<RankedTensorType>(value.getType());
  Value first = createHalf(builder, loc, value, /*second=*/false, interleaved);
  Value second = createHalf(builder, loc, value, /*second=*/true, interleaved);
  return createPairs(builder, loc, type, NegOp::create(builder, loc, second),
                     first, interleaved);
}

Value nn::createSwappedPairs(OpBuilder &builder, Location loc, Value value,
                             bool interleaved) {
  auto type = cast<RankedTensorType>(value.getType());
  // Only the small tensor, if it is repeated over other axes.
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    auto source = cast<RankedTensorType>(broadcast.getOperand().getType());
    if (source.getRank() > 0 &&
        source.getShape().back() == type.getShape().back()) {
      Value swapped =
          createSwappedPairs(builder, loc, broadcast.getOperand(), interleaved);
      return BroadcastOp::create(builder, loc, type, swapped);
    }
  }
  Value first = createHalf(builder, loc, value, /*second=*/false, interleaved);
  Value second = createHalf(builder, loc, value, /*second=*/true, interleaved);
  return createPairs(builder, loc, type, second, first, interleaved);
}
