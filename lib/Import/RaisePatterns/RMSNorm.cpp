//===- RMSNorm.cpp - Finds RMS norms
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Norm.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// \p OpTy completes the normalization: a quotient or a product.
template <typename OpTy>
struct RaiseRMSNorm : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    std::optional<NormCore> core = matchNormCore(op);
    if (!core || core->operand != core->squared)
      return failure();

    NormScale scale = takeNormScale(op, *core, /*withBias=*/false, rewriter);
    auto type = cast<RankedTensorType>(core->operand.getType());
    auto perRow = type.clone(type.getShape().take_front(core->getAxis()));
    auto norm = nn::RMSNormOp::create(rewriter, scale.last->getLoc(), type,
                                      perRow, core->operand, scale.scale,
                                      core->getAxis(), APFloat(core->epsilon));
    rewriter.replaceOp(scale.last, norm.getResult());
    return success();
  }
};
} // namespace

namespace pipewright {
void registerRMSNorm(RewritePatternSet &patterns) {
  patterns.add<RaiseRMSNorm<nn::DivOp>, RaiseRMSNorm<nn::MulOp>>(
      patterns.getContext());
}
} // namespace pipewright
