//===- Attention.cpp - Rotary positions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "pipewright/Dialect/NN/Attention.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// As ops that have patterns of their own.
struct ExpandRotary : OpRewritePattern<nn::RotaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::RotaryOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value rotated = nn::createRotatedPairs(rewriter, loc, op.getOperand(),
                                           op.getInterleaved());
    Value along =
        nn::MulOp::create(rewriter, loc, op.getOperand(), op.getCosine());
    Value across = nn::MulOp::create(rewriter, loc, rotated, op.getSine());
    rewriter.replaceOpWithNewOp<nn::AddOp>(op, along, across);
    return success();
  }
};
} // namespace

void pipewright::populateAttentionToLinalg(RewritePatternSet &patterns) {
  patterns.add<ExpandRotary>(patterns.getContext());
}
