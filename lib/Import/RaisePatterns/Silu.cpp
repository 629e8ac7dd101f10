//===- Silu.cpp - Finds SiLU
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// x sigmoid(x), where nothing else reads the sigmoid. Its product with the
/// other half of a layer (SwiGLU) is a product like any other.
struct RaiseSilu : OpRewritePattern<nn::MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::MulOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [x, gate] : {std::pair{op.getLhs(), op.getRhs()},
                           std::pair{op.getRhs(), op.getLhs()}}) {
      auto sigmoid = gate.getDefiningOp<nn::SigmoidOp>();
      if (!sigmoid || sigmoid.getOperand() != x || !sigmoid->hasOneUse())
        continue;
      rewriter.replaceOpWithNewOp<nn::SiluOp>(op, x);
      return success();
    }
    return failure();
  }
};
} // namespace

namespace pipewright {
void registerSilu(RewritePatternSet &patterns) {
  patterns.add<RaiseSilu>(patterns.getContext());
}
} // namespace pipewright
