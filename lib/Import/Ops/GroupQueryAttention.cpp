//===- GroupQueryAttention.cpp - Attention with a cache of keys
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// com.microsoft's attention of decoders: query heads that share key heads,
// rotations inside, and a cache of keys and values whose samples may be filled
// to different layout.
//
//===----------------------------------------------------------------------===//

#include "../AttentionHeads.h"
#include "../KeyCache.h"
#include "../RotaryPairs.h"

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

namespace {

enum Operand : unsigned {
  Query,
  Key,
  ValueOperand,
  PastKey,
  PastValue,
  SeqlensK,
  TotalLength,
  CosCache,
  SinCache,
  PositionIds,
  AttentionBias,
  HeadSink,
  KScale,
  VScale,
  QNormWeight,
  KNormWeight,
  QuerySeqlens,
};

} // namespace

static LogicalResult checkIsSupported(OnnxNode &node) {
  for (Operand needed : {SeqlensK, TotalLength})
    if (!node.hasOperand(needed))
      return node.emitError() << "lacks operand " << unsigned(needed);
  static constexpr std::pair<Operand, StringRef> operands[] = {
      {KScale, "k_scale"},
      {VScale, "v_scale"},
      {QuerySeqlens, "query_seqlens"}};
  for (auto [i, name] : operands)
    if (node.hasOperand(i))
      return node.emitError()
             << "has operand " << name << ", which is not supported";
  if (node.getInt("sliding_window_cache", 0) != 0)
    return node.emitError()
           << "has sliding_window_cache=1, which is not supported";
  if (node.hasOperand(PastKey) != node.hasOperand(PastValue))
    return node.emitError() << "has only one of past_key and past_value";
  if (node.hasOperand(Key) != node.hasOperand(ValueOperand))
    return node.emitError() << "has only one of key and value";
  if (node.getInt("causal", 1) == 0 && node.getInt("local_window_size", -1) > 0)
    return node.emitError() << "has a local_window_size, but causal=0";
  return success();
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// The new queries, keys and values, which may be packed in this order.
static FailureOr<AttentionHeads> getNewHeads(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  int64_t heads = node.getInt("num_heads", 0);
  int64_t keyHeads = node.getInt("kv_num_heads", 0);
  Value query = node.operand(Query);
  Value key = node.operand(Key), value = node.operand(ValueOperand);
  if (!key) {
    ArrayRef<int64_t> shape = getShape(query);
    // Neither is more than there are, so that their sum does not overflow.
    bool canSplit = shape.size() == 3 && heads > 0 && heads <= shape[2] &&
                    keyHeads > 0 && keyHeads <= shape[2];
    int64_t all = canSplit ? heads + 2 * keyHeads : 0;
    if (!canSplit || shape[2] % all != 0)
      return node.emitError()
             << "cannot split " << query.getType() << " into " << heads
             << " heads of queries and " << keyHeads << " of keys and values";
    int64_t size = shape[2] / all;
    Value packed = query;
    auto take = [&](int64_t first, int64_t count) {
      return b.sliceAxis(packed, /*axis=*/2, first * size, count * size);
    };
    query = take(0, heads);
    key = take(heads, keyHeads);
    value = take(heads + keyHeads, keyHeads);
  }
  FailureOr<Value> queries = splitHeads(node, query, heads, "num_heads");
  FailureOr<Value> keys = splitHeads(node, key, keyHeads, "kv_num_heads");
  FailureOr<Value> values = splitHeads(node, value, keyHeads, "kv_num_heads");
  if (failed(queries) || failed(keys) || failed(values))
    return failure();
  AttentionHeads result{*queries, *keys, *values};
  if (failed(checkHeads(node, result)))
    return failure();
  if (getShape(result.query)[2] != getShape(result.key)[2])
    return node.emitError()
           << "has " << getShape(result.query)[2] << " queries for "
           << getShape(result.key)[2] << " new keys";
  return result;
}

/// \p heads divided by the root mean square of each and scaled by operand
/// \p weight, if there is one.
static FailureOr<Value> normalize(OnnxNode &node, Value heads, Operand weight,
                                  StringRef epsilon) {
  if (!node.hasOperand(weight))
    return heads;
  ArrayRef<int64_t> shape = getShape(heads);
  RankedTensorType type = getTensorType(heads);
  Value scale = node.operand(weight);
  if (scale.getType() != type.clone({shape[3]}))
    return node.emitError()
           << "cannot scale heads " << type << " by " << scale.getType();
  double otherwise = node.getFloat("qk_norm_epsilon", 1e-6);
  return node.getBuilder().create<nn::RMSNormOp>(
      type, type.clone(shape.drop_back()), heads, scale, /*axis=*/3,
      llvm::APFloat(node.getFloat(epsilon, otherwise)));
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

static FailureOr<CacheLayout> getCacheLayout(OnnxNode &node,
                                             const AttentionHeads &added) {
  NNBuilder &b = node.getBuilder();
  FailureOr<double> total = node.getNumber(TotalLength);
  if (failed(total))
    return failure();
  if (node.hasOperand(PastKey) && getShape(node.operand(PastKey)).size() != 4)
    return node.emitError() << "needs a past of [batch, heads, keys, size of a "
                               "head], not "
                            << node.operand(PastKey).getType();
  CacheLayout layout;
  layout.added = getShape(added.key)[2];
  layout.past =
      node.hasOperand(PastKey) ? getShape(node.operand(PastKey))[2] : 0;
  layout.total = toInteger(*total);
  if (layout.total < layout.added || layout.total > layout.past + layout.added)
    return node.emitError()
           << "has total_sequence_length=" << layout.total << " for "
           << layout.added << " new keys and " << layout.past << " past ones";
  int64_t batch = getShape(added.key)[0];
  Value last = node.operand(SeqlensK);
  if (getTensorType(last).getNumElements() != batch ||
      !isa<IntegerType>(getElementType(last)))
    return node.emitError()
           << "has seqlens_k " << last.getType() << " for a batch of " << batch;
  last = b.cast(b.reshape(last, {batch}), b.getOpBuilder().getI64Type());
  layout.filled = b.create<nn::AddOp>(last, b.splatLike(last, 1.0));
  DenseElementsAttr known = getConstant(layout.filled);
  if (known && llvm::all_of(known.getValues<int64_t>(), [&](int64_t count) {
        return count == layout.total;
      }))
    layout.filled = Value();
  if (layout.total != layout.added)
    layout.ends = layout.filled;
  return layout;
}

/// The keys or values \p added together with those of operand \p past.
static FailureOr<Value> appendToCache(OnnxNode &node, Operand past, Value added,
                                      const CacheLayout &layout) {
  FailureOr<Value> all = appendToPast(node, node.operand(past), added);
  if (failed(all))
    return failure();
  if (layout.isConcatenation())
    return all;
  return putIntoCache(node.getBuilder(), node.operand(past), added, layout);
}

//===----------------------------------------------------------------------===//
// GroupQueryAttention
//===----------------------------------------------------------------------===//

/// The position of the first new key of each sample, as an i64 for each sample
/// or one for all.
static FailureOr<Value> getFirstPosition(OnnxNode &node, int64_t batch,
                                         const CacheLayout &layout) {
  NNBuilder &b = node.getBuilder();
  if (Value ids = node.operand(PositionIds)) {
    if (getShape(ids) != ArrayRef<int64_t>{batch, layout.added})
      return node.emitError()
             << "has positions " << ids.getType() << " for a batch of " << batch
             << " with " << layout.added << " new keys";
    Value first = b.sliceAxis(ids, /*axis=*/1, /*offset=*/0, /*size=*/1);
    // Of several, those of the first sample count, which go up by one.
    if (layout.added > 1)
      first = b.sliceAxis(first, /*axis=*/0, /*offset=*/0, /*size=*/1);
    return b.reshape(first, {getShape(first)[0]});
  }
  Value last = layout.ends;
  return b.create<nn::SubOp>(last, b.splatLike(last, layout.added));
}

/// The angles of the new keys.
static FailureOr<RotaryAngles> getAngles(OnnxNode &node, int64_t batch,
                                         const CacheLayout &layout) {
  NNBuilder &b = node.getBuilder();
  Value cosines = node.operand(CosCache), sines = node.operand(SinCache);
  if (!layout.ends && !node.hasOperand(PositionIds))
    return takeAngles(node, cosines, sines, layout.total - layout.added,
                      layout.added, batch);
  FailureOr<Value> first = getFirstPosition(node, batch, layout);
  if (failed(first))
    return failure();
  RankedTensorType type = getTensorType(*first).clone({batch, layout.added});
  Value column = b.reshape(*first, {getShape(*first)[0], 1});
  return lookUpAngles(node, cosines, sines,
                      b.create<nn::AddOp>(b.broadcast(column, type.getShape()),
                                          b.iota(type, /*axis=*/1)));
}

static LogicalResult rotate(OnnxNode &node, AttentionHeads &added,
                            const CacheLayout &layout) {
  if (node.getInt("do_rotary", 0) == 0)
    return success();
  if (!node.hasOperand(CosCache) || !node.hasOperand(SinCache))
    return node.emitError()
           << "has do_rotary=1, but no cos_cache and sin_cache";
  FailureOr<RotaryAngles> angles =
      getAngles(node, getShape(added.key)[0], layout);
  if (failed(angles))
    return failure();
  bool isInterleaved = node.getInt("rotary_interleaved", 0) != 0;
  for (Value *heads : {&added.query, &added.key}) {
    FailureOr<Value> rotated =
        rotatePairs(node, *heads, *angles, /*headAxis=*/1, isInterleaved);
    if (failed(rotated))
      return failure();
    *heads = *rotated;
  }
  return success();
}

static FailureOr<AttentionMask> getMask(OnnxNode &node, RankedTensorType scores,
                                        const CacheLayout &layout) {
  NNBuilder &b = node.getBuilder();
  AttentionMask mask;
  if (node.getInt("causal", 1) == 0) {
    if (layout.filled)
      mask.allowed = getKeysBefore(b, layout.filled, layout.total);
  } else {
    int64_t size = node.getInt("local_window_size", -1);
    AttentionWindow window{/*left=*/size > 0 ? size - 1 : -1, /*right=*/0};
    FailureOr<Value> visible =
        layout.ends ? getVisibleKeysUpTo(node, window, layout.ends,
                                         layout.added, layout.total)
                    : getVisibleKeys(node, window, layout.total - layout.added,
                                     layout.added, layout.total);
    if (failed(visible))
      return failure();
    mask.allowed = *visible;
  }
  if (!node.hasOperand(AttentionBias))
    return mask;
  FailureOr<Value> bias = widenMask(node, node.operand(AttentionBias), scores);
  if (failed(bias) || failed(addBias(node, *bias, mask)))
    return failure();
  return mask;
}

/// The score of one more key: of all heads 0 for a smooth softmax.
static FailureOr<Value> getSink(OnnxNode &node, const AttentionHeads &heads) {
  RankedTensorType type =
      getTensorType(heads.query).clone({getShape(heads.query)[1]});
  Value sink = node.operand(HeadSink);
  if (sink && sink.getType() != type)
    return node.emitError()
           << "has head_sink " << sink.getType() << " instead of " << type;
  if (!sink && node.getInt("smooth_softmax", 0) > 0)
    sink = node.getBuilder().splat(type, 0.0);
  return sink;
}

/// Result output_qk: the scores before or after the softmax, 0 where a key is
/// hidden.
static LogicalResult setScores(OnnxNode &node, const AttentionSteps &steps,
                               Value allowed) {
  if (!node.hasResult(3))
    return success();
  int64_t kind = node.getInt("qk_output", 0);
  if (kind != 1 && kind != 2)
    return node.emitError() << "has result output_qk, but qk_output=" << kind;
  Value scores = kind == 1 ? steps.biased : steps.weights;
  if (allowed)
    scores = selectOr(node.getBuilder(), allowed, scores, 0.0);
  node.setResult(3, scores);
  return success();
}

static LogicalResult attend(OnnxNode &node, Value query, Value keyCache,
                            Value valueCache, const CacheLayout &layout) {
  NNBuilder &b = node.getBuilder();
  AttentionHeads heads{
      query, b.sliceAxis(keyCache, /*axis=*/2, /*offset=*/0, layout.total),
      b.sliceAxis(valueCache, /*axis=*/2, /*offset=*/0, layout.total)};
  FailureOr<AttentionMask> mask = getMask(node, getScoresType(heads), layout);
  FailureOr<Value> sink = getSink(node, heads);
  if (failed(mask) || failed(sink))
    return failure();
  AttentionFormula formula = getFormula(node, heads);
  formula.sink = *sink;
  AttentionSteps steps = pipewright::attend(b, heads, *mask, formula);
  node.setResult(0, joinHeads(b, steps.result));
  node.setResult(1, keyCache);
  node.setResult(2, valueCache);
  return setScores(node, steps, mask->allowed);
}

static LogicalResult importGroupQueryAttention(OnnxNode &node) {
  if (failed(checkIsSupported(node)))
    return failure();
  FailureOr<AttentionHeads> added = getNewHeads(node);
  if (failed(added))
    return failure();
  FailureOr<Value> query =
      normalize(node, added->query, QNormWeight, "q_norm_epsilon");
  FailureOr<Value> key =
      normalize(node, added->key, KNormWeight, "k_norm_epsilon");
  FailureOr<CacheLayout> layout = getCacheLayout(node, *added);
  if (failed(query) || failed(key) || failed(layout))
    return failure();
  added->query = *query;
  added->key = *key;
  if (failed(rotate(node, *added, *layout)))
    return failure();
  FailureOr<Value> keys = appendToCache(node, PastKey, added->key, *layout);
  FailureOr<Value> values =
      appendToCache(node, PastValue, added->value, *layout);
  if (failed(keys) || failed(values))
    return failure();
  return attend(node, added->query, *keys, *values, *layout);
}

namespace pipewright {
void registerGroupQueryAttention(OnnxOpRegistry &registry) {
  registry.setDomain("com.microsoft");
  registry.add("GroupQueryAttention", /*since=*/1, {1, 17},
               importGroupQueryAttention);
}
} // namespace pipewright
