//===- Normalization.cpp - Softmax and layer norms
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exponentials are computed again for the result rather than kept: they cost
// less than a pass over memory.
//
//===----------------------------------------------------------------------===//

#include "Normalization.h"
#include "Patterns.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

#include <limits>

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

SoftmaxParts pipewright::createSoftmaxParts(OpBuilder &builder, Location loc,
                                            Value operand, int64_t axis) {
  auto type = cast<RankedTensorType>(operand.getType());
  ArrayRef<int64_t> shape = type.getShape();
  AffineMap row = getMapWithout({axis}, type.getRank(), builder.getContext());
  auto itself = [](Arithmetic &, ValueRange x) { return x[0]; };
  auto exponential = [](Arithmetic &arith, ValueRange x) {
    return arith.make<math::ExpOp>(arith.sub(x[0], x[1]));
  };
  double lowest = -std::numeric_limits<double>::infinity();
  Value max =
      createReduction(builder, loc, type.getElementType(), shape, {axis},
                      {{operand, {}}}, {{lowest, itself, takeMax}})
          .front();
  Value sum =
      createReduction(builder, loc, type.getElementType(), shape, {axis},
                      {{operand, {}}, {max, row}}, {{0, exponential, addUp}})
          .front();
  return {max, sum};
}

namespace {
template <typename OpTy>
struct SoftmaxToLinalg : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  static Value finish(Arithmetic &arith, Value shifted, Value sum) {
    if (std::is_same_v<OpTy, nn::LogSoftmaxOp>)
      return arith.sub(shifted, arith.make<math::LogOp>(sum));
    Value factor = arith.div(arith.constant(sum.getType(), 1), sum);
    return arith.mul(arith.make<math::ExpOp>(shifted), factor);
  }

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis();
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    SoftmaxParts parts =
        createSoftmaxParts(rewriter, loc, op.getOperand(), axis);
    AffineMap row =
        getMapWithout({axis}, type.getRank(), rewriter.getContext());
    rewriter.replaceOp(
        op,
        createMap(rewriter, loc, type,
                  {{op.getOperand(), {}}, {parts.max, row}, {parts.sum, row}},
                  [](Arithmetic &arith, ValueRange x) {
                    return finish(arith, arith.sub(x[0], x[1]), x[2]);
                  }));
    return success();
  }
};

struct SoftmaxGradToLinalg : OpRewritePattern<nn::SoftmaxGradOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::SoftmaxGradOp op,
                                PatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    AffineMap row =
        getMapWithout({axis}, type.getRank(), rewriter.getContext());
    auto product = [](Arithmetic &arith, ValueRange x) {
      return arith.mul(x[0], x[1]);
    };
    Value sum =
        createReduction(rewriter, op.getLoc(), type.getElementType(),
                        type.getShape(), {axis},
                        {{op.getSoftmax(), {}}, {op.getCotangent(), {}}},
                        {{0, product, addUp}})
            .front();
    rewriter.replaceOp(
        op,
        createMap(rewriter, op.getLoc(), type,
                  {{op.getSoftmax(), {}}, {op.getCotangent(), {}}, {sum, row}},
                  [](Arithmetic &arith, ValueRange x) {
                    return arith.mul(x[0], arith.sub(x[1], x[2]));
                  }));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Layer norms
//===----------------------------------------------------------------------===//

/// The rows of a layer norm: the axes from `axis` on.
struct Rows {
  Rows(RankedTensorType type, int64_t axis)
      : shape(type.getShape()), axes(getAxesFrom(axis, type.getRank())),
        element(getComputeType(type.getElementType())),
        perRow(getMapWithout(axes, type.getRank(), type.getContext())),
        perColumn(
            AffineMap::getMultiDimIdentityMap(type.getRank(), type.getContext())
                .getSliceMap(axis, type.getRank() - axis)),
        rowType(RankedTensorType::get(shape.take_front(axis), element)),
        length(ShapedType::getNumElements(shape.drop_front(axis))) {}

  /// The mean over each row of what \p contribute makes of the inputs.
  Value createMean(OpBuilder &builder, Location loc,
                   ArrayRef<MappedInput> inputs, ElementFn contribute) const {
    Value sum = createReduction(builder, loc, element, shape, axes, inputs,
                                {{0, contribute, addUp}})
                    .front();
    return createMap(builder, loc, rowType, {{sum, {}}},
                     [&](Arithmetic &arith, ValueRange x) {
                       return arith.mul(x[0],
                                        arith.constant(element, 1.0 / length));
                     });
  }

  /// 1 / sqrt(x + epsilon) for each row.
  Value createInverseRoot(OpBuilder &builder, Location loc, Value x,
                          double epsilon) const {
    return createMap(
        builder, loc, rowType, {{x, {}}}, [&](Arithmetic &arith, ValueRange x) {
          Value shifted = arith.add(x[0], arith.constant(element, epsilon));
          return arith.div(arith.constant(element, 1),
                           arith.make<math::SqrtOp>(shifted));
        });
  }

  ArrayRef<int64_t> shape;
  SmallVector<int64_t> axes;
  Type element;
  AffineMap perRow;
  AffineMap perColumn;
  RankedTensorType rowType;
  int64_t length;
};

struct LayerNormToLinalg : OpRewritePattern<nn::LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::LayerNormOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    Rows rows(type, op.getAxis());
    MappedInput operand{op.getOperand(), {}};
    Value mean =
        rows.createMean(rewriter, loc, operand,
                        [](Arithmetic &, ValueRange x) { return x[0]; });
    Value variance =
        rows.createMean(rewriter, loc, {operand, {mean, rows.perRow}},
                        [](Arithmetic &arith, ValueRange x) {
                          Value difference = arith.sub(x[0], x[1]);
                          return arith.mul(difference, difference);
                        });
    Value inverse = rows.createInverseRoot(rewriter, loc, variance,
                                           op.getEpsilon().convertToDouble());

    SmallVector<MappedInput> inputs = {operand,
                                       {mean, rows.perRow},
                                       {inverse, rows.perRow},
                                       {op.getScale(), rows.perColumn}};
    if (op.getBias())
      inputs.push_back({op.getBias(), rows.perColumn});
    Value result = createMap(
        rewriter, loc, type, inputs, [&](Arithmetic &arith, ValueRange x) {
          Value normalized = arith.mul(arith.sub(x[0], x[1]), x[2]);
          Value scaled = arith.mul(normalized, x[3]);
          return op.getBias() ? arith.add(scaled, x[4]) : scaled;
        });
    rewriter.replaceOp(
        op,
        {result, storeAs(rewriter, loc, op.getMean().getType(), mean),
         storeAs(rewriter, loc, op.getInverseDeviation().getType(), inverse)});
    return success();
  }
};

struct LayerNormGradToLinalg : OpRewritePattern<nn::LayerNormGradOp> {
  using OpRewritePattern::OpRewritePattern;

  /// The normalized row n = (x - m) r and g = dy * scale, of inputs dy, scale,
  /// x, m and r.
  static std::pair<Value, Value> getTerms(Arithmetic &arith, ValueRange x) {
    Value normalized = arith.mul(arith.sub(x[2], x[3]), x[4]);
    return {normalized, arith.mul(x[0], x[1])};
  }

  LogicalResult matchAndRewrite(nn::LayerNormGradOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    Rows rows(type, op.getAxis());
    SmallVector<MappedInput> inputs = {{op.getCotangent(), {}},
                                       {op.getScale(), rows.perColumn},
                                       {op.getOperand(), {}},
                                       {op.getMean(), rows.perRow},
                                       {op.getInverseDeviation(), rows.perRow}};
    Value meanG = rows.createMean(
        rewriter, loc, ArrayRef(inputs).take_front(2),
        [](Arithmetic &arith, ValueRange x) { return arith.mul(x[0], x[1]); });
    Value meanGN = rows.createMean(rewriter, loc, inputs,
                                   [](Arithmetic &arith, ValueRange x) {
                                     auto [n, g] = getTerms(arith, x);
                                     return arith.mul(g, n);
                                   });
    inputs.push_back({meanG, rows.perRow});
    inputs.push_back({meanGN, rows.perRow});
    rewriter.replaceOp(
        op, createMap(rewriter, loc, type, inputs,
                      [](Arithmetic &arith, ValueRange x) {
                        auto [n, g] = getTerms(arith, x);
                        Value centered = arith.sub(g, x[5]);
                        Value projected = arith.mul(n, x[6]);
                        return arith.mul(x[4], arith.sub(centered, projected));
                      }));
    return success();
  }
};

struct RMSNormToLinalg : OpRewritePattern<nn::RMSNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::RMSNormOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    Rows rows(type, op.getAxis());
    MappedInput operand{op.getOperand(), {}};
    Value meanSquare = rows.createMean(
        rewriter, loc, operand,
        [](Arithmetic &arith, ValueRange x) { return arith.mul(x[0], x[0]); });
    Value inverse = rows.createInverseRoot(rewriter, loc, meanSquare,
                                           op.getEpsilon().convertToDouble());
    Value result = createMap(
        rewriter, loc, type,
        {operand, {inverse, rows.perRow}, {op.getScale(), rows.perColumn}},
        [](Arithmetic &arith, ValueRange x) {
          return arith.mul(arith.mul(x[0], x[1]), x[2]);
        });
    rewriter.replaceOp(
        op, {result, storeAs(rewriter, loc, op.getInverseDeviation().getType(),
                             inverse)});
    return success();
  }
};
} // namespace

void pipewright::populateNormalizationToLinalg(RewritePatternSet &patterns) {
  patterns.add<SoftmaxToLinalg<nn::SoftmaxOp>,
               SoftmaxToLinalg<nn::LogSoftmaxOp>, SoftmaxGradToLinalg,
               LayerNormToLinalg, LayerNormGradToLinalg, RMSNormToLinalg>(
      patterns.getContext());
}
