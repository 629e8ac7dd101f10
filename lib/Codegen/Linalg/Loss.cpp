//===- Loss.cpp - Cross entropy and its gradient
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalization.h"
#include "Patterns.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

static Value isValid(Arithmetic &arith, Value label, int64_t ignoreIndex) {
  return arith.make<arith::CmpIOp>(
      arith::CmpIPredicate::ne, label,
      arith.constantInt(label.getType(), ignoreIndex));
}

namespace {
/// -log softmax(x)[label] = log sum exp(x - max) + max - x[label].
struct CrossEntropyToLinalg : OpRewritePattern<nn::CrossEntropyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::CrossEntropyOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = getComputeType(op.getLogits().getType().getElementType());
    int64_t rows = op.getLabels().getType().getRank();
    ArrayRef<int64_t> shape = op.getLabels().getType().getShape();
    SoftmaxParts parts =
        createSoftmaxParts(rewriter, loc, op.getLogits(), /*axis=*/rows);

    auto loss = [&](Arithmetic &arith, ValueRange x) -> Value {
      Value valid = isValid(arith, x[0], op.getIgnoreIndex());
      Value label =
          arith.select(valid, x[0], arith.constantInt(x[0].getType(), 0));
      SmallVector<Value> position;
      for (int64_t dim = 0; dim < rows; ++dim)
        position.push_back(arith.make<linalg::IndexOp>(dim));
      position.push_back(
          arith.make<arith::IndexCastOp>(arith.getIndexType(), label));
      Value logit =
          arith.widen(arith.make<tensor::ExtractOp>(op.getLogits(), position));
      Value sum = arith.add(arith.make<math::LogOp>(x[2]), x[1]);
      return arith.select(valid, arith.sub(sum, logit),
                          arith.constant(element, 0));
    };
    auto weight = [&](Arithmetic &arith, ValueRange x) -> Value {
      return arith.select(isValid(arith, x[0], op.getIgnoreIndex()),
                          arith.constant(element, 1),
                          arith.constant(element, 0));
    };
    SmallVector<Value> sums = createReduction(
        rewriter, loc, element, shape, getAxesFrom(0, rows),
        {{op.getLabels(), {}}, {parts.max, {}}, {parts.sum, {}}},
        {{0, loss, addUp}, {0, weight, addUp}});
    rewriter.replaceOp(
        op, {storeAs(rewriter, loc, op.getSum().getType(), sums[0]),
             storeAs(rewriter, loc, op.getWeight().getType(), sums[1])});
    return success();
  }
};

struct CrossEntropyGradToLinalg : OpRewritePattern<nn::CrossEntropyGradOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::CrossEntropyGradOp op,
                                PatternRewriter &rewriter) const override {
    int64_t rows = op.getLabels().getType().getRank();
    SoftmaxParts parts = createSoftmaxParts(rewriter, op.getLoc(),
                                            op.getLogits(), /*axis=*/rows);
    AffineMap scalar = AffineMap::get(rows + 1, 0, rewriter.getContext());
    AffineMap row = getMapWithout({rows}, rows + 1, rewriter.getContext());

    auto element = [&](Arithmetic &arith, ValueRange x) -> Value {
      Value cotangent = x[0], logit = x[1], max = x[2], sum = x[3];
      Value label = x[4];
      Type type = logit.getType();
      Value one = arith.constant(type, 1), zero = arith.constant(type, 0);
      Value softmax = arith.mul(arith.make<math::ExpOp>(arith.sub(logit, max)),
                                arith.div(one, sum));
      Value position = arith.make<arith::IndexCastOp>(
          label.getType(), arith.make<linalg::IndexOp>(rows));
      Value here =
          arith.make<arith::CmpIOp>(arith::CmpIPredicate::eq, position, label);
      Value difference = arith.sub(softmax, arith.select(here, one, zero));
      return arith.select(isValid(arith, label, op.getIgnoreIndex()),
                          arith.mul(difference, cotangent), zero);
    };
    rewriter.replaceOp(op, createMap(rewriter, op.getLoc(),
                                     op.getResult().getType(),
                                     {{op.getCotangent(), scalar},
                                      {op.getLogits(), {}},
                                      {parts.max, row},
                                      {parts.sum, row},
                                      {op.getLabels(), row}},
                                     element));
    return success();
  }
};
} // namespace

void pipewright::populateLossToLinalg(RewritePatternSet &patterns) {
  patterns.add<CrossEntropyToLinalg, CrossEntropyGradToLinalg>(
      patterns.getContext());
}
