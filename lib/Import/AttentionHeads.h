//===- AttentionHeads.h - Scaled dot product attention ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ONNX's attention and those of ONNX Runtime have in common: heads, which
// keys a query may see, and the way from scores to the result.
// (Vaswani et al., arXiv:1706.03762; grouped heads: Ainslie et al.,
// arXiv:2305.13245)
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_ATTENTIONHEADS_H
#define PIPEWRIGHT_LIB_IMPORT_ATTENTIONHEADS_H

#include "pipewright/Import/OnnxNode.h"

namespace pipewright {

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// Tensors of [batch, heads, length, size of a head]. Several query heads may
/// share a key head.
struct AttentionHeads {
  mlir::Value query, key, value;
};

/// [batch, length, all heads] with an axis for \p heads, as attribute \p name
/// says; an error if they do not fit.
mlir::FailureOr<mlir::Value> splitHeads(OnnxNode &node, mlir::Value x,
                                        int64_t heads, llvm::StringRef name);

/// The inverse of splitHeads.
mlir::Value joinHeads(NNBuilder &b, mlir::Value heads);

/// Fails unless queries can attend to the keys.
mlir::LogicalResult checkHeads(OnnxNode &node, const AttentionHeads &heads);

/// [batch, query heads, queries, keys]
mlir::RankedTensorType getScoresType(const AttentionHeads &heads);

/// Keys or values \p x after those of \p past, which may be null.
mlir::FailureOr<mlir::Value> appendToPast(OnnxNode &node, mlir::Value past,
                                          mlir::Value x);

/// \p heads whose keys and values come after those of the past, each of which
/// may be null. Fails unless queries can attend to all keys.
mlir::FailureOr<AttentionHeads> appendToPast(OnnxNode &node,
                                             mlir::Value pastKey,
                                             mlir::Value pastValue,
                                             AttentionHeads heads);

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// What changes the scores, broadcast to their shape by NumPy's rule; either
/// may be null.
struct AttentionMask {
  mlir::Value bias;    ///< is added
  mlir::Value allowed; ///< which keys a query may see
};

/// How many keys before and after its own position a query may see; all if
/// negative.
struct AttentionWindow {
  int64_t left = -1, right = -1;

  bool isUnbounded() const { return left < 0 && right < 0; }
};

/// Which of \p keys keys the queries at the positions from \p first on may
/// see: [1, 1, queries, keys]. Null if these are all.
mlir::FailureOr<mlir::Value> getVisibleKeys(OnnxNode &node,
                                            const AttentionWindow &window,
                                            int64_t first, int64_t queries,
                                            int64_t keys);

/// As above where the last query's key is the last of the first \p ends keys,
/// an i64 for each sample of the batch: [batch, 1, queries, keys].
mlir::FailureOr<mlir::Value> getVisibleKeysUpTo(OnnxNode &node,
                                                const AttentionWindow &window,
                                                mlir::Value ends,
                                                int64_t queries, int64_t keys);

/// The first \p ends of \p keys keys of each sample: [batch, 1, 1, keys].
mlir::Value getKeysBefore(NNBuilder &b, mlir::Value ends, int64_t keys);

/// The keys that both allow, where null allows all.
mlir::FailureOr<mlir::Value> allowBoth(OnnxNode &node, mlir::Value lhs,
                                       mlir::Value rhs);

/// \p mask with four axes; an error if it has another element type than the
/// scores or \p i1 and cannot be broadcast to them.
mlir::FailureOr<mlir::Value> widenMask(OnnxNode &node, mlir::Value mask,
                                       mlir::RankedTensorType scores);

/// Adds \p bias, whose infinities hide keys, to \p mask.
mlir::LogicalResult addBias(OnnxNode &node, mlir::Value bias,
                            AttentionMask &mask);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// How queries and keys become weights.
struct AttentionFormula {
  double scale = 1.0;
  /// The bound that scores approach; none if 0.
  double softcap = 0.0;
  /// The type in which the softmax is computed.
  mlir::FloatType softmaxType;
  /// A score for each head of one more key, which has no value; may be null.
  mlir::Value sink;
};

/// The formula with what most nodes say: attribute \p scale, or the inverse
/// root of the size of a head if it is 0 or missing.
AttentionFormula getFormula(OnnxNode &node, const AttentionHeads &heads);

/// The tensors on the way from queries to the result, all but the last of
/// [batch, heads, queries, keys].
struct AttentionSteps {
  mlir::Value scores; ///< products times the scale
  mlir::Value capped;
  mlir::Value biased;
  mlir::Value masked;  ///< the lowest number where a key is hidden
  mlir::Value weights; ///< evenly spread for a query that may see no key
  mlir::Value result;  ///< [batch, heads, queries, size of a value head]
};

/// A query that may see no key gets zeros.
AttentionSteps attend(NNBuilder &b, const AttentionHeads &heads,
                      const AttentionMask &mask,
                      const AttentionFormula &formula);

/// The lowest number of \p type that is not infinite.
double getLowest(mlir::FloatType type);

/// \p value where \p condition, broadcast, holds, else \p otherwise.
mlir::Value selectOr(NNBuilder &b, mlir::Value condition, mlir::Value value,
                     double otherwise);

/// \p perQuery, whose axis 2 is that of queries, with zeros for those that may
/// see no key. \p allowed may be null.
mlir::Value clearBlindQueries(NNBuilder &b, mlir::Value perQuery,
                              mlir::Value allowed);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_ATTENTIONHEADS_H
