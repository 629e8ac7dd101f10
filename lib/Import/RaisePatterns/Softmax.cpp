//===- Softmax.cpp - Finds softmax
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "RowStatistics.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

/// The value x of exp(x - max x), of which \p quotient divides each by the sum
/// along one axis; null if it is something else.
static Value getLogits(nn::DivOp quotient, const RowStatistics &rows) {
  auto exponential = quotient.getLhs().getDefiningOp<nn::ExpOp>();
  if (!exponential || rows.getReduced(quotient.getRhs(), nn::Reduction::Sum) !=
                          quotient.getLhs())
    return {};
  auto shifted = exponential.getOperand().getDefiningOp<nn::SubOp>();
  if (!shifted)
    return {};
  Value x = shifted.getLhs();
  Value compared = rows.getReduced(shifted.getRhs(), nn::Reduction::Max);
  return compared == x ? x : Value();
}

namespace {
struct RaiseSoftmax : OpRewritePattern<nn::DivOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::DivOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<RowStatistics> rows = RowStatistics::find(op.getRhs());
    if (!rows || rows->getAxes().size() != 1)
      return failure();
    Value x = getLogits(op, *rows);
    if (!x)
      return failure();
    rewriter.replaceOpWithNewOp<nn::SoftmaxOp>(op, x, rows->getAxes().front());
    return success();
  }
};
} // namespace

namespace pipewright {
void registerSoftmax(RewritePatternSet &patterns) {
  patterns.add<RaiseSoftmax>(patterns.getContext());
}
} // namespace pipewright
