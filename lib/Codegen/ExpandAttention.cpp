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

namespace {
struct ExpandAttentionPattern : OpRewritePattern<nn::AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::AttentionOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    nn::AttentionSizes sizes(op);
    RankedTensorType type = op.getType();
    Value weights =
        nn::createCast(rewriter, loc, nn::createAttentionWeights(rewriter, op),
                       type.getElementType());
    Value product = nn::MatMulOp::create(
        rewriter, loc, type.clone(sizes.perGroup(sizes.valueSize)), weights,
        op.getValue(), /*transpose_lhs=*/false, /*transpose_rhs=*/false);
    rewriter.replaceOp(
        op, nn::createReshape(rewriter, loc, product, type.getShape()));
    return success();
  }
};

struct ExpandAttention
    : pipewright::impl::ExpandAttentionBase<ExpandAttention> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandAttentionPattern>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
