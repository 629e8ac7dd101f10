//===- MatMul.cpp - Contractions that the library has no kernel for
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generic.h"
#include "Patterns.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// Loops over batches, rows, columns and, innermost, the contracted axis.
struct MatMulToLinalg : OpRewritePattern<nn::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    auto type = op.getResult().getType();
    ArrayRef<int64_t> lhs = op.getLhs().getType().getShape();
    int64_t batches = type.getRank() - 2;
    int64_t row = batches, column = batches + 1, inner = batches + 2;
    SmallVector<int64_t> loops(type.getShape());
    loops.push_back(lhs[op.getTransposeLhs() ? row : column]);

    auto getMap = [&](int64_t first, int64_t second, bool transposed) {
      SmallVector<int64_t> dims = getAxesFrom(0, batches);
      dims.append(transposed ? std::initializer_list<int64_t>{second, first}
                             : std::initializer_list<int64_t>{first, second});
      return AffineMap::getMultiDimMapWithTargets(
          inner + 1, SmallVector<unsigned>(dims.begin(), dims.end()),
          rewriter.getContext());
    };
    auto product = [](Arithmetic &arith, ValueRange x) {
      return arith.mul(x[0], x[1]);
    };
    Value sums =
        createReduction(
            rewriter, op.getLoc(), type.getElementType(), loops, {inner},
            {{op.getLhs(), getMap(row, inner, op.getTransposeLhs())},
             {op.getRhs(), getMap(inner, column, op.getTransposeRhs())}},
            {{0, product, addUp}})
            .front();
    rewriter.replaceOp(op, storeAs(rewriter, op.getLoc(), type, sums));
    return success();
  }
};
} // namespace

void pipewright::populateMatMulToLinalg(RewritePatternSet &patterns) {
  patterns.add<MatMulToLinalg>(patterns.getContext());
}
