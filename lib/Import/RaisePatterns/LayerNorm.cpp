//===- LayerNorm.cpp - Finds layer norms
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Norm.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

/// The value x whose deviation x - mean(x) from the mean \p value is.
static Value getDeviating(Value value, const RowStatistics &rows) {
  auto difference = value.getDefiningOp<nn::SubOp>();
  if (!difference)
    return {};
  Value x = difference.getLhs();
  Value averaged = rows.getReduced(difference.getRhs(), nn::Reduction::Mean);
  return averaged == x ? x : Value();
}

namespace {
/// \p OpTy completes the normalization: a quotient or a product.
template <typename OpTy>
struct RaiseLayerNorm : OpRewritePattern<OpTy> {
  // A layer norm is an RMS norm of the deviations, too: look for it first.
  explicit RaiseLayerNorm(MLIRContext *context)
      : OpRewritePattern<OpTy>(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    std::optional<NormCore> core = matchNormCore(op);
    if (!core)
      return failure();
    Value x = getDeviating(core->operand, core->rows);
    if (!x || getDeviating(core->squared, core->rows) != x)
      return failure();

    NormScale scale = takeNormScale(op, *core, /*withBias=*/true, rewriter);
    auto type = cast<RankedTensorType>(x.getType());
    auto perRow = type.clone(type.getShape().take_front(core->getAxis()));
    auto norm = nn::LayerNormOp::create(
        rewriter, scale.last->getLoc(), type, perRow, perRow, x, scale.scale,
        scale.bias, core->getAxis(), APFloat(core->epsilon));
    rewriter.replaceOp(scale.last, norm.getResult());
    return success();
  }
};
} // namespace

namespace pipewright {
void registerLayerNorm(RewritePatternSet &patterns) {
  patterns.add<RaiseLayerNorm<nn::DivOp>, RaiseLayerNorm<nn::MulOp>>(
      patterns.getContext());
}
} // namespace pipewright
