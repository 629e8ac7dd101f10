//===- Embedding.cpp - Look-ups and their gradients
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Destination.h"
#include "Generic.h"
#include "Loops.h"
#include "Patterns.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

/// The position that \p index names on an axis of \p extent elements.
static Value normalizeIndex(Arithmetic &arith, Value index, int64_t extent) {
  Value position = arith.make<arith::IndexCastOp>(arith.getIndexType(), index);
  Value fromEnd =
      arith.add(position, arith.constantInt(arith.getIndexType(), extent));
  Value negative = arith.less(index, arith.constantInt(index.getType(), 0));
  return arith.select(negative, fromEnd, position);
}

/// Of the coordinates of a gathered element, those of the element in the table:
/// the \p indexRank coordinates from \p axis on are replaced by \p position.
static SmallVector<Value> getTableCoordinates(ValueRange coordinates,
                                              int64_t axis, int64_t indexRank,
                                              Value position) {
  SmallVector<Value> result(coordinates.take_front(axis));
  result.push_back(position);
  llvm::append_range(result, coordinates.drop_front(axis + indexRank));
  return result;
}

namespace {
struct GatherToLinalg : OpRewritePattern<nn::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::GatherOp op,
                                PatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis();
    int64_t rank = op.getResult().getType().getRank();
    int64_t indexRank = op.getIndices().getType().getRank();
    int64_t extent = op.getTable().getType().getDimSize(axis);
    AffineMap indexMap =
        rewriter.getMultiDimIdentityMap(rank).getSliceMap(axis, indexRank);

    auto element = [&](Arithmetic &arith, ValueRange x) -> Value {
      SmallVector<Value> coordinates;
      for (int64_t dim = 0; dim < rank; ++dim)
        coordinates.push_back(arith.make<linalg::IndexOp>(dim));
      Value position = normalizeIndex(arith, x[0], extent);
      return arith.make<tensor::ExtractOp>(
          op.getTable(),
          getTableCoordinates(coordinates, axis, indexRank, position));
    };
    rewriter.replaceOp(op, createMap(rewriter, op.getLoc(),
                                     op.getResult().getType(),
                                     {{op.getIndices(), indexMap}}, element));
    return success();
  }
};

/// Sequential: the contributions to one slice are added in the order of the
/// indices, whatever repeats.
struct ScatterAddToLoops : OpRewritePattern<nn::ScatterAddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ScatterAddOp op,
                                PatternRewriter &rewriter) const override {
    if (succeeded(sumWidened(op, rewriter)))
      return success();
    int64_t axis = op.getAxis();
    int64_t indexRank = op.getIndices().getType().getRank();
    auto type = op.getResult().getType();
    auto locate = [&](Arithmetic &arith, ValueRange coordinates,
                      Value indices) {
      Value index = arith.make<memref::LoadOp>(
          indices, coordinates.slice(axis, indexRank));
      return getTableCoordinates(
          coordinates, axis, indexRank,
          normalizeIndex(arith, index, type.getDimSize(axis)));
    };
    addInto(op.getResult(), op.getUpdates(), op.getIndices(), rewriter, locate);
    return success();
  }
};
} // namespace

void pipewright::populateEmbeddingToLinalg(RewritePatternSet &patterns) {
  patterns.add<GatherToLinalg, ScatterAddToLoops>(patterns.getContext());
}
