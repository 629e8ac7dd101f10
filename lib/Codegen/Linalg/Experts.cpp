//===- Experts.cpp - Products by expert that the library has no kernel for
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Destination.h"
#include "Generic.h"
#include "Loops.h"
#include "Patterns.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// The expert that a number names.
struct Expert {
  Value isNamed;
  /// One that there is, if none is named.
  Value position;
};
} // namespace

static Expert locateExpert(Arithmetic &arith, Value number,
                           int64_t expertCount) {
  auto constant = [&](int64_t value) {
    return arith.constantInt(number.getType(), value);
  };
  Value fromEnd = arith.add(number, constant(expertCount));
  Value counted =
      arith.select(arith.less(number, constant(0)), fromEnd, number);
  // What is still negative is a large number without a sign.
  Value isNamed = arith.make<arith::CmpIOp>(arith::CmpIPredicate::ult, counted,
                                            constant(expertCount));
  Value safe = arith.select(isNamed, counted, constant(0));
  return {isNamed, arith.make<arith::IndexCastOp>(arith.getIndexType(), safe)};
}

/// \p lhs times \p rhs, 0 for a row that has no expert.
static Value multiplyIfNamed(Arithmetic &arith, const Expert &expert, Value lhs,
                             Value rhs) {
  Value product = arith.mul(lhs, rhs);
  return arith.select(expert.isNamed, product,
                      arith.constant(product.getType(), 0));
}

namespace {
/// Loops over rows, columns and, innermost, the contracted axis.
struct ExpertMatMulToLinalg : OpRewritePattern<nn::ExpertMatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ExpertMatMulOp op,
                                PatternRewriter &rewriter) const override {
    enum Loop : unsigned { Row, Column, Inner };
    auto type = op.getResult().getType();
    int64_t depth = op.getRows().getType().getDimSize(1);
    int64_t expertCount = op.getWeights().getType().getDimSize(0);
    auto getMap = [&](ArrayRef<unsigned> loops) {
      return AffineMap::getMultiDimMapWithTargets(3, loops,
                                                  rewriter.getContext());
    };
    auto product = [&](Arithmetic &arith, ValueRange x) {
      Expert expert = locateExpert(arith, x[1], expertCount);
      Value column = arith.make<linalg::IndexOp>(Column);
      Value inner = arith.make<linalg::IndexOp>(Inner);
      if (op.getTransposeWeights())
        std::swap(column, inner);
      Value weight = arith.make<tensor::ExtractOp>(
          op.getWeights(), ValueRange{expert.position, inner, column});
      return multiplyIfNamed(arith, expert, x[0], arith.widen(weight));
    };
    Value sums = createReduction(
                     rewriter, op.getLoc(), type.getElementType(),
                     {type.getDimSize(0), type.getDimSize(1), depth}, {Inner},
                     {{op.getRows(), getMap({Row, Inner})},
                      {op.getExperts(), getMap({Row})}},
                     {{0, product, addUp}})
                     .front();
    rewriter.replaceOp(op, storeAs(rewriter, op.getLoc(), type, sums));
    return success();
  }
};

/// Sequential: the products of an expert are added in the order of its rows.
struct ExpertOuterToLoops : OpRewritePattern<nn::ExpertOuterOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ExpertOuterOp op,
                                PatternRewriter &rewriter) const override {
    if (succeeded(sumWidened(op, rewriter)))
      return success();
    Destination destination = takeDestination(op.getResult(), rewriter);
    Value lhs = destination.getReadBuffer(op.getLhs(), rewriter);
    Value rhs = destination.getReadBuffer(op.getRhs(), rewriter);
    Value experts = destination.getReadBuffer(op.getExperts(), rewriter);
    auto type = op.getResult().getType();
    Arithmetic arith(op.getLoc(), rewriter);
    if (!destination.accumulate)
      linalg::FillOp::create(arith, arith.constant(type.getElementType(), 0),
                             destination.buffer);
    auto body = [&](Arithmetic &inner, ValueRange at) {
      auto load = [&](Value buffer, ValueRange coordinates) {
        return inner.widen(inner.make<memref::LoadOp>(buffer, coordinates));
      };
      Expert expert =
          locateExpert(inner, load(experts, at[0]), type.getDimSize(0));
      Value product = multiplyIfNamed(inner, expert, load(lhs, {at[0], at[1]}),
                                      load(rhs, {at[0], at[2]}));
      SmallVector<Value> target = {expert.position, at[1], at[2]};
      Value sum = inner.make<memref::LoadOp>(destination.buffer, target);
      memref::StoreOp::create(inner, inner.add(sum, product),
                              destination.buffer, target);
    };
    int64_t rows = op.getLhs().getType().getDimSize(0);
    createLoops(arith, {rows, type.getDimSize(1), type.getDimSize(2)}, body);
    finishDestination(destination, op.getResult(), rewriter);
    return success();
  }
};
} // namespace

void pipewright::populateExpertsToLinalg(RewritePatternSet &patterns) {
  patterns.add<ExpertMatMulToLinalg, ExpertOuterToLoops>(patterns.getContext());
}
