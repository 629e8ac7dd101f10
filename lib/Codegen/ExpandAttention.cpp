//===- ExpandAttention.cpp - Attention as products and a softmax
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Dialect/NN/Attention.h"
#include "pipewright/Dialect/NN/Create.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace pipewright {
#define GEN_PASS_DEF_EXPANDATTENTION
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

/// The values weighed by \p weights, one matrix a group of those: the result of
/// \p op.
template <typename OpTy>
static Value createResult(PatternRewriter &rewriter, OpTy op, Value weights) {
  Location loc = op.getLoc();
  nn::AttentionSizes sizes(op);
  RankedTensorType type = op.getResult().getType();
  Value narrow = nn::createCast(rewriter, loc, weights, type.getElementType());
  Value product = nn::MatMulOp::create(
      rewriter, loc, type.clone(sizes.perGroup(sizes.valueSize)), narrow,
      op.getValue(), /*transpose_lhs=*/false, /*transpose_rhs=*/false);
  return nn::createReshape(rewriter, loc, product, type.getShape());
}

namespace {
struct ExpandAttentionPattern : OpRewritePattern<nn::AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::AttentionOp op,
                                PatternRewriter &rewriter) const override {
    Value weights = nn::createAttentionWeights(rewriter, op);
    rewriter.replaceOp(op, createResult(rewriter, op, weights));
    return success();
  }
};

struct ExpandStatistics : OpRewritePattern<nn::AttentionWithStatisticsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::AttentionWithStatisticsOp op,
                                PatternRewriter &rewriter) const override {
    Value statistics = nn::createStatistics(rewriter, op);
    Value weights = nn::createAttentionWeights(rewriter, op, statistics);
    rewriter.replaceOp(op, {createResult(rewriter, op, weights), statistics});
    return success();
  }
};

/// The products of a gradient, with one matrix a group.
class GradientExpander {
public:
  GradientExpander(nn::AttentionGradOp op, PatternRewriter &rewriter)
      : op(op), rewriter(rewriter), sizes(op) {}

  SmallVector<Value> run();

private:
  Value perGroup(Value perHead);
  Value multiply(Value lhs, bool transposeLhs, Value rhs, bool transposeRhs,
                 Type element, ArrayRef<int64_t> shape);
  Value sumOfRows(Value like);

  nn::AttentionGradOp op;
  PatternRewriter &rewriter;
  nn::AttentionSizes sizes;
};
} // namespace

Value GradientExpander::perGroup(Value perHead) {
  auto type = cast<RankedTensorType>(perHead.getType());
  return nn::createReshape(rewriter, op.getLoc(), perHead,
                           sizes.perGroup(type.getShape().back()));
}

Value GradientExpander::multiply(Value lhs, bool transposeLhs, Value rhs,
                                 bool transposeRhs, Type element,
                                 ArrayRef<int64_t> shape) {
  return nn::MatMulOp::create(rewriter, op.getLoc(),
                              RankedTensorType::get(shape, element), lhs, rhs,
                              transposeLhs, transposeRhs);
}

/// sum(dY Y) of each row, repeated to the type of \p like.
Value GradientExpander::sumOfRows(Value like) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(like.getType());
  auto widen = [&](Value value) {
    return nn::createCast(rewriter, loc, perGroup(value),
                          type.getElementType());
  };
  Value product = nn::MulOp::create(rewriter, loc, widen(op.getCotangent()),
                                    widen(op.getResult()));
  int64_t axis = type.getRank() - 1;
  SmallVector<int64_t> column = sizes.perGroup(1);
  Value sum = nn::ReduceOp::create(rewriter, loc,
                                   type.clone(ArrayRef(column).drop_back()),
                                   nn::Reduction::Sum, product, axis);
  return nn::createBroadcast(rewriter, loc,
                             nn::createReshape(rewriter, loc, sum, column),
                             type.getShape());
}

SmallVector<Value> GradientExpander::run() {
  Location loc = op.getLoc();
  Value weights = nn::createAttentionWeights(rewriter, op);
  auto type = cast<RankedTensorType>(weights.getType());
  Type element = getElementTypeOrSelf(op.getQuery());
  Value cotangent = perGroup(op.getCotangent());
  Value dWeights = multiply(cotangent, false, op.getValue(), true,
                            type.getElementType(), type.getShape());
  Value dScores = nn::MulOp::create(
      rewriter, loc, weights,
      nn::SubOp::create(rewriter, loc, dWeights, sumOfRows(dWeights)));
  Value scale = nn::createSplatLike(rewriter, loc, dScores,
                                    op.getScale().convertToDouble());
  Value dProduct = nn::createCast(
      rewriter, loc, nn::MulOp::create(rewriter, loc, dScores, scale), element);
  Value dQuery = multiply(dProduct, false, op.getKey(), false, element,
                          sizes.perGroup(sizes.size));
  return {nn::createReshape(rewriter, loc, dQuery,
                            op.getQuery().getType().getShape()),
          multiply(dProduct, true, perGroup(op.getQuery()), false, element,
                   op.getKey().getType().getShape()),
          multiply(nn::createCast(rewriter, loc, weights, element), true,
                   cotangent, false, element,
                   op.getValue().getType().getShape())};
}

namespace {
struct ExpandGradient : OpRewritePattern<nn::AttentionGradOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::AttentionGradOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, GradientExpander(op, rewriter).run());
    return success();
  }
};

struct ExpandAttention
    : pipewright::impl::ExpandAttentionBase<ExpandAttention> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandAttentionPattern, ExpandStatistics, ExpandGradient>(
        &getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
