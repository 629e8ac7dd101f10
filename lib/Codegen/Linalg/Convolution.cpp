//===- Convolution.cpp - Sliding windows
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generic.h"
#include "Loops.h"
#include "Patterns.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

/// Whether \p windows has one window, which is all of \p image.
static bool isWholeImage(ArrayRef<int64_t> image, ArrayRef<int64_t> windows) {
  return windows.take_front(image.size()) == image;
}

namespace {
/// A move: what reorders the windows reads the image at once.
struct Im2ColToLinalg : OpRewritePattern<nn::Im2ColOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::Im2ColOp op,
                                PatternRewriter &rewriter) const override {
    if (isWholeImage(op.getOperand().getType().getShape(),
                     op.getType().getShape())) {
      rewriter.replaceOpWithNewOp<nn::ReshapeOp>(op, op.getType(),
                                                 op.getOperand());
      return success();
    }
    int64_t spatial = op.getOperand().getType().getRank() - 2;
    SmallVector<AffineExpr> from = {rewriter.getAffineDimExpr(0),
                                    rewriter.getAffineDimExpr(1)};
    for (int64_t axis = 0; axis < spatial; ++axis) {
      AffineExpr kernel = rewriter.getAffineDimExpr(2 + axis);
      AffineExpr position = rewriter.getAffineDimExpr(2 + spatial + axis);
      from.push_back(position * op.getStrides()[axis] +
                     kernel * op.getDilations()[axis]);
    }
    AffineMap map =
        AffineMap::get(2 + 2 * spatial, 0, from, rewriter.getContext());
    auto take = [](Arithmetic &, ValueRange x) { return x[0]; };
    rewriter.replaceOp(op, createMap(rewriter, op.getLoc(),
                                     op.getResult().getType(),
                                     {{op.getOperand(), map}}, take));
    return success();
  }
};

/// Sequential: windows overlap.
struct Col2ImToLoops : OpRewritePattern<nn::Col2ImOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Where the image has the window element at \p index.
  static SmallVector<Value> getImagePosition(Arithmetic &arith, nn::Col2ImOp op,
                                             ValueRange index) {
    int64_t spatial = index.size() / 2 - 1;
    auto scale = [&](Value value, int64_t factor) {
      return arith.mul(value, arith.constantInt(arith.getIndexType(), factor));
    };
    SmallVector<Value> position(index.take_front(2));
    for (int64_t axis = 0; axis < spatial; ++axis)
      position.push_back(
          arith.add(scale(index[2 + spatial + axis], op.getStrides()[axis]),
                    scale(index[2 + axis], op.getDilations()[axis])));
    return position;
  }

  LogicalResult matchAndRewrite(nn::Col2ImOp op,
                                PatternRewriter &rewriter) const override {
    if (isWholeImage(op.getType().getShape(),
                     op.getOperand().getType().getShape())) {
      rewriter.replaceOpWithNewOp<nn::ReshapeOp>(op, op.getType(),
                                                 op.getOperand());
      return success();
    }
    if (succeeded(sumWidened(op, rewriter)))
      return success();
    auto locate = [&](Arithmetic &arith, ValueRange index) {
      return getImagePosition(arith, op, index);
    };
    addInto(op.getResult(), op.getOperand(), rewriter, locate);
    return success();
  }
};
} // namespace

void pipewright::populateConvolutionToLinalg(RewritePatternSet &patterns) {
  patterns.add<Im2ColToLinalg, Col2ImToLoops>(patterns.getContext());
}
