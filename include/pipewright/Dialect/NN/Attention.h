//===- Attention.h - What attention is made of ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forward and backward compute the same weights: here is how, in other ops.
// Ops with statistics do so too, where no library computes them.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_ATTENTION_H
#define PIPEWRIGHT_DIALECT_NN_ATTENTION_H

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"

namespace pipewright::nn {

struct AttentionSizes {
  AttentionSizes(mlir::Value query, mlir::Value key, mlir::Value value);
  /// Those of an attention, with or without statistics, or of a gradient.
  template <typename OpTy>
  explicit AttentionSizes(OpTy op)
      : AttentionSizes(op.getQuery(), op.getKey(), op.getValue()) {}

  /// [batch..., heads, queries, \p columns].
  llvm::SmallVector<int64_t> perHead(int64_t columns) const;
  /// The same elements with one matrix a group, so that one product serves all
  /// of its heads: [batch..., groups, heads of a group * queries, \p columns].
  llvm::SmallVector<int64_t> perGroup(int64_t columns) const;

  llvm::SmallVector<int64_t> batch;
  int64_t groups;
  int64_t headsPerGroup;
  int64_t queries;
  int64_t keys;
  int64_t size;      ///< numbers of a query, and of a key
  int64_t valueSize; ///< numbers of a value, and of a result
};

/// The type in which attention to \p query adds up: f32, or f64 for operands of
/// f64.
mlir::Type getSumType(mlir::Value query);

/// tanh(scale Q K^T / softcap) of \p op, which has a soft cap, of its sum type
/// and of the shape `perGroup(keys)`.
mlir::Value createCapFraction(mlir::OpBuilder &builder, AttentionOp op);

/// The softmax of \p op's scores, as above.
mlir::Value createAttentionWeights(mlir::OpBuilder &builder, AttentionOp op);

/// The logarithm of the sum of the exponentials of each query's scores.
mlir::Value createStatistics(mlir::OpBuilder &builder,
                             AttentionWithStatisticsOp op);

/// exp(scores - \p statistics), as above.
mlir::Value createAttentionWeights(mlir::OpBuilder &builder,
                                   AttentionWithStatisticsOp op,
                                   mlir::Value statistics);
mlir::Value createAttentionWeights(mlir::OpBuilder &builder,
                                   AttentionGradOp op);

/// Each pair (a, b) of the last axis as (-b, a), as in `nn.rotary`.
mlir::Value createRotatedPairs(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value value, bool interleaved);

/// Each pair (a, b) as (b, a).
mlir::Value createSwappedPairs(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value value, bool interleaved);

} // namespace pipewright::nn

#endif // PIPEWRIGHT_DIALECT_NN_ATTENTION_H
