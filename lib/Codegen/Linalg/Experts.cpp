//===- Experts.cpp - Moved rows, and products by expert without a library
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
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Whether \p number is one of the numbers from 0 to \p count - 1.
static Value isBelow(Arithmetic &arith, Value number, int64_t count) {
  // What is negative is a large number without a sign.
  return arith.make<arith::CmpIOp>(arith::CmpIPredicate::ult, number,
                                   arith.constantInt(number.getType(), count));
}

static Expert locateExpert(Arithmetic &arith, Value number,
                           int64_t expertCount) {
  auto constant = [&](int64_t value) {
    return arith.constantInt(number.getType(), value);
  };
  Value fromEnd = arith.add(number, constant(expertCount));
  Value counted =
      arith.select(arith.less(number, constant(0)), fromEnd, number);
  Value isNamed = isBelow(arith, counted, expertCount);
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

struct PermuteRowsToLinalg : OpRewritePattern<nn::PermuteRowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::PermuteRowsOp op,
                                PatternRewriter &rewriter) const override {
    auto type = op.getResult().getType();
    int64_t rows = op.getRows().getType().getDimSize(0);
    if (rows == 0) {
      rewriter.replaceOp(
          op, createFilled(rewriter, op.getLoc(), type, /*value=*/0));
      return success();
    }
    auto element = [&](Arithmetic &arith, ValueRange x) {
      Value exists = isBelow(arith, x[0], rows);
      // The first row is read instead of one that does not exist.
      Value row =
          arith.select(exists, x[0], arith.constantInt(x[0].getType(), 0));
      SmallVector<Value> place = {
          arith.make<arith::IndexCastOp>(arith.getIndexType(), row)};
      for (int64_t dim = 1; dim < type.getRank(); ++dim)
        place.push_back(arith.make<linalg::IndexOp>(dim));
      Value read = arith.make<tensor::ExtractOp>(op.getRows(), place);
      return arith.select(exists, read, arith.constant(read.getType(), 0));
    };
    AffineMap ofRow =
        rewriter.getMultiDimIdentityMap(type.getRank()).getMajorSubMap(1);
    rewriter.replaceOp(op, createMap(rewriter, op.getLoc(), type,
                                     {{op.getIndices(), ofRow}}, element));
    return success();
  }
};

/// Each index writes to its own place.
struct InvertIndicesToLoops : OpRewritePattern<nn::InvertIndicesOp> {
  using OpRewritePattern::OpRewritePattern;

  /// There is no loop over one index: each place looks whether it is that.
  static Value invertOne(nn::InvertIndicesOp op, PatternRewriter &rewriter) {
    auto element = [](Arithmetic &arith, ValueRange x) {
      auto constant = [&](int64_t value) {
        return arith.constantInt(x[0].getType(), value);
      };
      Value place = arith.make<arith::IndexCastOp>(
          x[0].getType(), arith.make<linalg::IndexOp>(0));
      Value isNamed =
          arith.make<arith::CmpIOp>(arith::CmpIPredicate::eq, x[0], place);
      return arith.select(isNamed, constant(0), constant(-1));
    };
    AffineMap first = AffineMap::get(/*dimCount=*/1, /*symbolCount=*/0,
                                     rewriter.getAffineConstantExpr(0));
    return createMap(rewriter, op.getLoc(), op.getType(),
                     {{op.getIndices(), first}}, element);
  }

  LogicalResult matchAndRewrite(nn::InvertIndicesOp op,
                                PatternRewriter &rewriter) const override {
    auto type = op.getResult().getType();
    int64_t places = type.getDimSize(0);
    int64_t count = op.getIndices().getType().getDimSize(0);
    if (count == 1) {
      rewriter.replaceOp(op, invertOne(op, rewriter));
      return success();
    }
    Destination destination =
        takeDestination(op.getResult(), rewriter, /*canAccumulate=*/false);
    Value indices = destination.getReadBuffer(op.getIndices(), rewriter);
    Arithmetic arith(op.getLoc(), rewriter);
    linalg::FillOp::create(arith, arith.constantInt(type.getElementType(), -1),
                           destination.buffer);
    auto index = [&](int64_t value) {
      return arith.constantInt(arith.getIndexType(), value);
    };
    auto body = [&](OpBuilder &nested, Location loc, ValueRange i) {
      Arithmetic inner(loc, nested);
      Value place = inner.make<memref::LoadOp>(indices, i);
      auto write = [&](OpBuilder &builder, Location) {
        Arithmetic branch(loc, builder);
        memref::StoreOp::create(
            branch, branch.make<arith::IndexCastOp>(place.getType(), i[0]),
            destination.buffer,
            branch.make<arith::IndexCastOp>(branch.getIndexType(), place));
        scf::YieldOp::create(branch);
      };
      scf::IfOp::create(inner, isBelow(inner, place, places), write);
    };
    scf::ParallelOp::create(arith, index(0), index(count), index(1), body);
    finishDestination(destination, op.getResult(), rewriter);
    return success();
  }
};
} // namespace

void pipewright::populateExpertsToLinalg(RewritePatternSet &patterns) {
  patterns.add<ExpertMatMulToLinalg, ExpertOuterToLoops, PermuteRowsToLinalg,
               InvertIndicesToLoops>(patterns.getContext());
}
