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

/// How many axes \p type has behind the last of \p axes, if all of them have
/// one element; else 0.
static int64_t countTrailing(RankedTensorType type, ArrayRef<int64_t> axes) {
  ArrayRef<int64_t> behind =
      type.getShape().drop_front(axes.empty() ? 0 : axes.back() + 1);
  return llvm::all_of(behind, [](int64_t size) { return size == 1; })
             ? behind.size()
             : 0;
}

/// A length of parts of an axis of \p extent elements, the largest of those
/// that make at least as many parts; 0 if the axis is best left whole.
static int64_t choosePartLength(int64_t extent) {
  constexpr int64_t longest = 256, shortest = 8;
  int64_t length = 0;
  for (int64_t part = shortest; extent > longest && part * part <= extent;
       ++part)
    if (extent % part == 0)
      length = part;
  return length;
}

/// \p shape with \p length elements at \p axis, and before it as many as there
/// are such parts.
static SmallVector<int64_t> splitAxis(ArrayRef<int64_t> shape, int64_t axis,
                                      int64_t length) {
  SmallVector<int64_t> split(shape);
  split[axis] /= length;
  split.insert(split.begin() + axis + 1, length);
  return split;
}

/// Replaces \p op, if its lines are long, by running sums of parts of them and
/// of the parts' sums, which need not be made one after the other. Only of
/// integers: order matters to floats.
static LogicalResult sumInParts(nn::CumulativeSumOp op,
                                PatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(op.getType());
  int64_t axis = op.getAxis(), length = choosePartLength(type.getDimSize(axis));
  if (!type.getElementType().isInteger() || length == 0)
    return rewriter.notifyMatchFailure(op, "is made one after the other");
  Location loc = op.getLoc();
  auto split = type.clone(splitAxis(type.getShape(), axis, length));
  SmallVector<int64_t> partShape(split.getShape());
  partShape.erase(partShape.begin() + axis + 1);
  auto partType = type.clone(partShape);
  partShape.insert(partShape.begin() + axis + 1, 1);

  Value elements = nn::ReshapeOp::create(rewriter, loc, split, op.getOperand());
  Value within = nn::CumulativeSumOp::create(
      rewriter, loc, elements, axis + 1, op.getExclusive(), op.getReverse());
  Value totals = nn::ReduceOp::create(rewriter, loc, partType,
                                      nn::Reduction::Sum, elements, {axis + 1});
  Value before =
      nn::CumulativeSumOp::create(rewriter, loc, totals, axis,
                                  /*exclusive=*/true, op.getReverse());
  before = nn::ReshapeOp::create(rewriter, loc, type.clone(partShape), before);
  before = nn::BroadcastOp::create(rewriter, loc, split, before);
  Value sums = nn::AddOp::create(rewriter, loc, within, before);
  rewriter.replaceOpWithNewOp<nn::ReshapeOp>(op, type, sums);
  return success();
}

namespace {
struct ReduceToLinalg : OpRewritePattern<nn::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Reduces rows as such, and not columns of which there is one.
  static void dropTrailing(nn::ReduceOp op, int64_t count,
                           PatternRewriter &rewriter) {
    auto drop = [&](Value tensor) {
      auto type = cast<RankedTensorType>(tensor.getType());
      return type.clone(type.getShape().drop_back(count));
    };
    Value rows = nn::ReshapeOp::create(rewriter, op.getLoc(),
                                       drop(op.getOperand()), op.getOperand());
    Value reduced =
        nn::ReduceOp::create(rewriter, op.getLoc(), drop(op.getResult()),
                             op.getKind(), rows, op.getAxes());
    rewriter.replaceOpWithNewOp<nn::ReshapeOp>(op, op.getType(), reduced);
  }

  LogicalResult matchAndRewrite(nn::ReduceOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    auto resultType = cast<RankedTensorType>(op.getResult().getType());
    if (int64_t count = countTrailing(type, op.getAxes())) {
      dropTrailing(op, count, rewriter);
      return success();
    }
    Value result =
        createReduction(rewriter, loc, type.getElementType(), type.getShape(),
                        op.getAxes(), {{op.getOperand(), {}}},
                        {getReducer(op.getKind())})
            .front();
    if (op.getKind() == nn::Reduction::Mean) {
      int64_t count = type.getNumElements() / resultType.getNumElements();
      result = createMap(rewriter, loc, resultType, {{result, {}}},
                         [&](Arithmetic &arith, ValueRange x) {
                           return arith.div(
                               x[0], arith.constant(x[0].getType(), count));
                         });
    }
    rewriter.replaceOp(op, storeAs(rewriter, loc, resultType, result));
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
    if (succeeded(sumWidened(op, rewriter)) ||
        succeeded(sumInParts(op, rewriter)))
      return success();
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    Destination destination =
        takeDestination(op.getResult(), rewriter, /*canAccumulate=*/false);
    Value source = destination.getReadBuffer(op.getOperand(), rewriter);
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

/// As often as elements are wanted, searches the line for the next one after
/// that which was found last: the largest of those that come after it.
struct TopKToLoops : OpRewritePattern<nn::TopKOp> {
  using OpRewritePattern::OpRewritePattern;

  /// An element and its position, which is -1 if there is none.
  struct Found {
    Value element, position;
  };

  /// Whether \p lhs comes before \p rhs in order, of equal elements that of
  /// lower position.
  static Value comesBefore(Arithmetic &arith, nn::TopKOp op, Found lhs,
                           Found rhs) {
    Value before = op.getSmallest() ? arith.less(lhs.element, rhs.element)
                                    : arith.less(rhs.element, lhs.element);
    Value equal =
        arith.compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq,
                      lhs.element, rhs.element);
    Value lower = arith.make<arith::AndIOp>(
        equal, arith.less(lhs.position, rhs.position));
    return arith.make<arith::OrIOp>(before, lower);
  }

  /// Whether \p candidate may follow \p last and comes before \p best.
  static Value isBetter(Arithmetic &arith, nn::TopKOp op, Found candidate,
                        Found last, Found best) {
    Value zero = arith.constantInt(arith.getIndexType(), 0);
    Value mayFollow =
        arith.make<arith::OrIOp>(arith.less(last.position, zero),
                                 comesBefore(arith, op, last, candidate));
    Value isFirst = arith.less(best.position, zero);
    Value wins = arith.make<arith::OrIOp>(
        isFirst, comesBefore(arith, op, candidate, best));
    return arith.make<arith::AndIOp>(mayFollow, wins);
  }

  /// The element of the line at \p outer that follows \p last.
  static Found findNext(Arithmetic &arith, nn::TopKOp op, ValueRange outer,
                        Value source, Found last) {
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    int64_t axis = op.getAxis();
    auto index = [&](int64_t value) {
      return arith.constantInt(arith.getIndexType(), value);
    };
    auto body = [&](OpBuilder &nested, Location loc, Value i,
                    ValueRange carried) {
      Arithmetic inner(loc, nested);
      SmallVector<Value> place(outer);
      place[axis] = i;
      Found candidate = {inner.make<memref::LoadOp>(source, place), i};
      Found best = {carried[0], carried[1]};
      Value better = isBetter(inner, op, candidate, last, best);
      scf::YieldOp::create(
          inner,
          ValueRange{inner.select(better, candidate.element, best.element),
                     inner.select(better, candidate.position, best.position)});
    };
    auto loop = scf::ForOp::create(
        arith, index(0), index(type.getDimSize(axis)), index(1),
        ValueRange{arith.constant(type.getElementType(), 0), index(-1)}, body);
    return {loop.getResult(0), loop.getResult(1)};
  }

  static void selectRow(Arithmetic &arith, nn::TopKOp op, ValueRange outer,
                        Value source, Value target) {
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    auto index = [&](int64_t value) {
      return arith.constantInt(arith.getIndexType(), value);
    };
    auto body = [&](OpBuilder &nested, Location loc, Value rank,
                    ValueRange carried) {
      Arithmetic inner(loc, nested);
      Found next = findNext(inner, op, outer, source, {carried[0], carried[1]});
      SmallVector<Value> place(outer);
      place[op.getAxis()] = rank;
      memref::StoreOp::create(inner,
                              inner.make<arith::IndexCastOp>(
                                  op.getType().getElementType(), next.position),
                              target, place);
      scf::YieldOp::create(inner, ValueRange{next.element, next.position});
    };
    scf::ForOp::create(
        arith, index(0), index(op.getType().getDimSize(op.getAxis())), index(1),
        ValueRange{arith.constant(type.getElementType(), 0), index(-1)}, body);
  }

  LogicalResult matchAndRewrite(nn::TopKOp op,
                                PatternRewriter &rewriter) const override {
    Destination destination =
        takeDestination(op.getResult(), rewriter, /*canAccumulate=*/false);
    Value source = destination.getReadBuffer(op.getOperand(), rewriter);
    Arithmetic arith(op.getLoc(), rewriter);
    SmallVector<int64_t> outer(op.getType().getShape());
    outer[op.getAxis()] = 1;
    createLoops(arith, outer, [&](Arithmetic &inner, ValueRange coordinates) {
      selectRow(inner, op, coordinates, source, destination.buffer);
    });
    finishDestination(destination, op.getResult(), rewriter);
    return success();
  }
};
} // namespace

void pipewright::populateReductionToLinalg(RewritePatternSet &patterns) {
  patterns.add<ReduceToLinalg, CumulativeSumToLoops, TopKToLoops>(
      patterns.getContext());
}
