//===- Attention.cpp - Rotary positions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generic.h"
#include "Patterns.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// The last axis of a tensor as pairs of numbers: one axis of two members and
/// one of pairs, whichever is outside.
struct Pairs {
  Pairs(RankedTensorType type, bool interleaved) : type(type) {
    int64_t last = type.getRank() - 1, pairs = type.getDimSize(last) / 2;
    shape.assign(type.getShape().begin(), type.getShape().end());
    shape.back() = interleaved ? pairs : 2;
    shape.push_back(interleaved ? 2 : pairs);
    member = interleaved ? last + 1 : last;
    for (int64_t axis = 0; axis < last; ++axis)
      groups.push_back({axis});
    groups.push_back({last, last + 1});
  }

  Value expand(PatternRewriter &rewriter, Location loc, Value value) const {
    return tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape),
                                         value, groups);
  }

  RankedTensorType type;
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  int64_t member; ///< the axis of two
};

/// Each number is computed from its pair at once: there is no rotated tensor.
struct LowerRotary : OpRewritePattern<nn::RotaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::RotaryOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Pairs pairs(cast<RankedTensorType>(op.getType()), op.getInterleaved());
    Value values = pairs.expand(rewriter, loc, op.getOperand());
    AffineMap self = rewriter.getMultiDimIdentityMap(pairs.shape.size());
    AffineExpr member = rewriter.getAffineDimExpr(pairs.member);
    AffineMap other = self.replace(member, 1 - member, self.getNumDims(), 0);
    Value rotated =
        createMap(rewriter, loc, pairs.type.clone(pairs.shape),
                  {{values, {}},
                   {values, other},
                   {pairs.expand(rewriter, loc, op.getCosine()), {}},
                   {pairs.expand(rewriter, loc, op.getSine()), {}}},
                  [&](Arithmetic &arith, ValueRange in) {
                    Value index = arith.make<linalg::IndexOp>(pairs.member);
                    Value zero = arith.make<arith::ConstantIndexOp>(0);
                    Value isFirst = arith.make<arith::CmpIOp>(
                        arith::CmpIPredicate::eq, index, zero);
                    Value across = arith.mul(in[1], in[3]);
                    Value negative = arith.make<arith::NegFOp>(across);
                    return arith.add(arith.mul(in[0], in[2]),
                                     arith.select(isFirst, negative, across));
                  });
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, pairs.type,
                                                         rotated, pairs.groups);
    return success();
  }
};
} // namespace

void pipewright::populateAttentionToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerRotary>(patterns.getContext());
}
