//===- Shape.cpp - Moving elements without arithmetic
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generic.h"
#include "Patterns.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

static Value takeElement(Arithmetic &, ValueRange x) { return x[0]; }

/// All axes of \p type in one group; no group for a scalar.
static SmallVector<ReassociationIndices> getOneGroup(RankedTensorType type) {
  if (type.getRank() == 0)
    return {};
  ReassociationIndices all;
  llvm::append_range(all, llvm::seq<int64_t>(0, type.getRank()));
  return {all};
}

static Value createReshape(OpBuilder &builder, Location loc, Value value,
                           RankedTensorType type) {
  auto source = cast<RankedTensorType>(value.getType());
  if (source == type)
    return value;
  if (auto groups = getReassociationIndicesForReshape(source, type)) {
    if (source.getRank() > type.getRank())
      return tensor::CollapseShapeOp::create(builder, loc, type, value,
                                             *groups);
    return tensor::ExpandShapeOp::create(builder, loc, type, value, *groups);
  }
  auto flat =
      RankedTensorType::get(source.getNumElements(), source.getElementType());
  if (source != flat)
    value = source.getRank() == 0
                ? tensor::ExpandShapeOp::create(builder, loc, flat, value,
                                                getOneGroup(source))
                      .getResult()
                : tensor::CollapseShapeOp::create(builder, loc, flat, value,
                                                  getOneGroup(source))
                      .getResult();
  if (type == flat)
    return value;
  if (type.getRank() == 0)
    return tensor::CollapseShapeOp::create(builder, loc, type, value,
                                           getOneGroup(type));
  return tensor::ExpandShapeOp::create(builder, loc, type, value,
                                       getOneGroup(type));
}

static SmallVector<OpFoldResult> getConstants(OpBuilder &builder,
                                              ArrayRef<int64_t> values) {
  return getAsIndexOpFoldResult(builder.getContext(), values);
}

namespace {
struct ConstantToArith : OpRewritePattern<nn::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConstantOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, cast<TypedAttr>(op.getValueAttr()));
    return success();
  }
};

struct ReshapeToTensor : OpRewritePattern<nn::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, createReshape(rewriter, op.getLoc(), op.getOperand(),
                          cast<RankedTensorType>(op.getResult().getType())));
    return success();
  }
};

struct TransposeToLinalg : OpRewritePattern<nn::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> permutation = op.getPermutation();
    SmallVector<AffineExpr> source(permutation.size());
    for (auto [axis, from] : llvm::enumerate(permutation))
      source[from] = rewriter.getAffineDimExpr(axis);
    AffineMap map =
        AffineMap::get(permutation.size(), 0, source, rewriter.getContext());
    rewriter.replaceOp(op, createMap(rewriter, op.getLoc(),
                                     op.getResult().getType(),
                                     {{op.getOperand(), map}}, takeElement));
    return success();
  }
};

struct BroadcastToLinalg : OpRewritePattern<nn::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> source = op.getOperand().getType().getShape();
    ArrayRef<int64_t> target = op.getResult().getType().getShape();
    SmallVector<AffineExpr> exprs;
    for (auto [axis, extent] : llvm::enumerate(source)) {
      int64_t loop = target.size() - source.size() + axis;
      exprs.push_back(extent == target[loop]
                          ? rewriter.getAffineDimExpr(loop)
                          : rewriter.getAffineConstantExpr(0));
    }
    AffineMap map =
        AffineMap::get(target.size(), 0, exprs, rewriter.getContext());
    rewriter.replaceOp(op, createMap(rewriter, op.getLoc(),
                                     op.getResult().getType(),
                                     {{op.getOperand(), map}}, takeElement));
    return success();
  }
};

struct SliceToTensor : OpRewritePattern<nn::SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::SliceOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, type, op.getOperand(), getConstants(rewriter, op.getOffsets()),
        getConstants(rewriter, type.getShape()),
        getConstants(rewriter, op.getStrides()));
    return success();
  }
};

struct ReverseToLinalg : OpRewritePattern<nn::ReverseOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ReverseOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    auto element = [&](Arithmetic &arith, ValueRange) -> Value {
      SmallVector<Value> position;
      for (int64_t axis = 0; axis < type.getRank(); ++axis) {
        Value index = arith.make<linalg::IndexOp>(axis);
        if (llvm::is_contained(op.getAxes(), axis))
          index = arith.sub(arith.constantInt(arith.getIndexType(),
                                              type.getDimSize(axis) - 1),
                            index);
        position.push_back(index);
      }
      return arith.make<tensor::ExtractOp>(op.getOperand(), position);
    };
    rewriter.replaceOp(
        op, createMap(rewriter, op.getLoc(), type, /*inputs=*/{}, element));
    return success();
  }
};

struct PadToTensor : OpRewritePattern<nn::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::PadOp op,
                                PatternRewriter &rewriter) const override {
    Value filled = createFilled(rewriter, op.getLoc(), op.getResult().getType(),
                                op.getValue().convertToDouble());
    SmallVector<int64_t> strides;
    for (int64_t interior : op.getInterior())
      strides.push_back(interior + 1);
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, op.getOperand(), filled, getConstants(rewriter, op.getLow()),
        getConstants(rewriter, op.getOperand().getType().getShape()),
        getConstants(rewriter, strides));
    return success();
  }
};

struct ConcatToTensor : OpRewritePattern<nn::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    Value result = tensor::EmptyOp::create(
        rewriter, op.getLoc(), type.getShape(), type.getElementType());
    SmallVector<int64_t> offsets(type.getRank(), 0);
    SmallVector<int64_t> ones(type.getRank(), 1);
    for (Value part : op.getParts()) {
      auto partType = cast<RankedTensorType>(part.getType());
      result = tensor::InsertSliceOp::create(
          rewriter, op.getLoc(), part, result, getConstants(rewriter, offsets),
          getConstants(rewriter, partType.getShape()),
          getConstants(rewriter, ones));
      offsets[op.getAxis()] += partType.getDimSize(op.getAxis());
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void pipewright::populateShapeToLinalg(RewritePatternSet &patterns) {
  patterns.add<ConstantToArith, ReshapeToTensor, TransposeToLinalg,
               BroadcastToLinalg, SliceToTensor, ReverseToLinalg, PadToTensor,
               ConcatToTensor>(patterns.getContext());
}
