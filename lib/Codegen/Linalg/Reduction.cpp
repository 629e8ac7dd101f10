//===- Reduction.cpp - Sums and extremes over axes
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
#include "mlir/IR/PatternMatch.h"

#include <limits>

using namespace mlir;
using namespace pipewright;

static Value takeMin(Arithmetic &arith, Value min, Value value) {
  return arith.min(min, value);
}

static Value multiplyUp(Arithmetic &arith, Value product, Value value) {
  return arith.mulInAnyOrder(product, value);
}

static Reducer getReducer(nn::Reduction kind) {
  static const auto itself = [](Arithmetic &, ValueRange x) { return x[0]; };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case nn::Reduction::Sum:
  case nn::Reduction::Mean:
    return {0, itself, addUp};
  case nn::Reduction::Max:
    return {-infinity, itself, takeMax};
  case nn::Reduction::Min:
    return {infinity, itself, takeMin};
  case nn::Reduction::Prod:
    return {1, itself, multiplyUp};
  }
  llvm_unreachable("all reductions are handled");
}

namespace {
struct ReduceToLinalg : OpRewritePattern<nn::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ReduceOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    auto resultType = cast<RankedTensorType>(op.getResult().getType());
    Value result =
        createReduction(rewriter, loc, type.getElementType(), type.getShape(),
                        op.getAxes(), {{op.getOperand(), {}}},
                        {getReducer(op.getKind())})
            .front();
    if (op.getKind() == nn::Reduction::Mean) {
      int64_t count = type.getNumElements() / resultType.getNumElements();
      result =
          createMap(rewriter, loc, resultType, {{result, {}}},
                    [&](Arithmetic &arith, ValueRange x) {
                      Type element = type.getElementType();
                      return arith.div(x[0], arith.constant(element, count));
                    });
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Sequential along the axis.
struct CumulativeSumToLoops : OpRewritePattern<nn::CumulativeSumOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Sums along the axis, all other coordinates being those of \p outer.
  static void sumRow(Arithmetic &arith, nn::CumulativeSumOp op,
                     ValueRange outer, Value source, Value target) {
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    int64_t axis = op.getAxis(), extent = type.getDimSize(axis);
    auto index = [&](int64_t value) {
      return arith.constantInt(arith.getIndexType(), value);
    };
    Value zero = arith.constant(type.getElementType(), 0);
    Value last = index(extent - 1);
    auto body = [&](OpBuilder &nested, Location loc, Value step,
                    ValueRange sums) {
      Arithmetic inner(loc, nested);
      SmallVector<Value> position(outer);
      position[axis] = op.getReverse() ? inner.sub(last, step) : step;
      Value element = inner.make<memref::LoadOp>(source, position);
      Value sum = inner.add(sums[0], element);
      memref::StoreOp::create(inner, op.getExclusive() ? sums[0] : sum, target,
                              position);
      scf::YieldOp::create(inner, sum);
    };
    scf::ForOp::create(arith, index(0), index(extent), index(1),
                       ValueRange{zero}, body);
  }

  LogicalResult matchAndRewrite(nn::CumulativeSumOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    Destination destination =
        takeDestination(op.getResult(), rewriter, /*canAccumulate=*/false);
    Value source = getReadBuffer(op.getOperand(), rewriter);
    Arithmetic arith(op.getLoc(), rewriter);
    SmallVector<int64_t> outer(type.getShape());
    outer[op.getAxis()] = 1;
    createLoops(arith, outer, [&](Arithmetic &inner, ValueRange coordinates) {
      sumRow(inner, op, coordinates, source, destination.buffer);
    });
    finishDestination(destination, op.getResult(), rewriter);
    return success();
  }
};
} // namespace

void pipewright::populateReductionToLinalg(RewritePatternSet &patterns) {
  patterns.add<ReduceToLinalg, CumulativeSumToLoops>(patterns.getContext());
}
