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

LogicalResult AttentionOp::verify() {
  ArrayRef<int64_t> query = getShape(getQuery()), key = getShape(getKey());
  if (query.size() < 3 || key.size() != query.size())
    return emitOpError("has queries of rank ")
           << query.size() << " and keys of rank " << key.size()
           << "; both must have one rank, at least 3";
  int64_t heads = query[query.size() - 3], groups = key[key.size() - 3];
  if (query.drop_back(3) != key.drop_back(3))
    return emitOpError("has batch dimensions ")
           << formatShape(query.drop_back(3)) << " and "
           << formatShape(key.drop_back(3)) << "; they must be equal";
  if (groups == 0 ? heads != 0 : heads % groups != 0)
    return emitOpError("cannot share ")
           << groups << " heads of keys among " << heads << " of queries";
  if (query.back() != key.back())
    return emitOpError("compares queries of ")
           << query.back() << " numbers with keys of " << key.back();

  SmallVector<int64_t> value(key), result(query);
  if (getRank(getValue()) > 0)
    value.back() = result.back() = getShape(getValue()).back();
  if (failed(verifyShape(*this, "value", getValue(), value)) ||
      failed(verifyShape(*this, "result", getResult(), result)))
    return failure();

  if (getSoftcap() && !(getSoftcap()->convertToDouble() > 0))
    return emitOpError("has a soft cap of ")
           << getSoftcap()->convertToDouble() << "; it must be above 0";
  int64_t queries = query[query.size() - 2], keys = key[key.size() - 2];
  if (getCausal() && queries > keys)
    return emitOpError("is causal, but has ")
           << queries << " queries for " << keys << " keys";
  return getMask() ? verifyMask(*this) : success();
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

AttentionSizes::AttentionSizes(AttentionOp op) {
  ArrayRef<int64_t> query = getShape(op.getQuery()),
                    key = getShape(op.getKey());
  batch = llvm::to_vector(query.drop_back(3));
  groups = key[key.size() - 3];
  headsPerGroup = groups ? query[query.size() - 3] / groups : 1;
  queries = query[query.size() - 2];
  keys = key[key.size() - 2];
  size = query.back();
  valueSize = getShape(op.getValue()).back();
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

Type nn::getSumType(AttentionOp op) {
  Type element = getElementTypeOrSelf(op.getType());
  return element.isF64() ? element : Float32Type::get(op.getContext());
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

Value nn::createScaledProduct(OpBuilder &builder, AttentionOp op,
                              double scale) {
  Location loc = op.getLoc();
  AttentionSizes sizes(op);
  auto type = RankedTensorType::get(sizes.perGroup(sizes.keys), getSumType(op));
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
    mask = createCast(builder, loc, mask, getSumType(op));
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
