//===- Elementwise.cpp - Folders and canonicalization of elementwise ops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright::nn;

/// The one value of a splat constant of floats, or nothing.
static std::optional<double> getSplat(Attribute attribute) {
  auto elements = dyn_cast_or_null<SplatElementsAttr>(attribute);
  if (!elements || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  APFloat value = elements.getSplatValue<APFloat>();
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

static std::optional<double> getSplat(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  return getSplat(attribute);
}

OpFoldResult NegOp::fold(FoldAdaptor) {
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return inner.getOperand();
  return {};
}

// x * 1 and x / 1 are x for every float, NaN and -0 too. x + 0 is not: it
// turns -0 into 0.

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  // A constant is the right operand of a commutative op.
  if (getSplat(adaptor.getRhs()) == 1.0)
    return getLhs();
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (getSplat(adaptor.getRhs()) == 1.0)
    return getLhs();
  return {};
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  return {};
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  auto condition = dyn_cast_or_null<SplatElementsAttr>(adaptor.getCondition());
  if (!condition)
    return {};
  return condition.getSplatValue<bool>() ? getOnTrue() : getOnFalse();
}

//===----------------------------------------------------------------------===//
// PowOp
//===----------------------------------------------------------------------===//

namespace {
/// Writes a power of 1, 2 or 3 as products, and one of 0.5 as a square root:
/// they are exact where `pow` rounds, cheaper, and have simpler gradients.
struct ExpandPower : OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PowOp op,
                                PatternRewriter &rewriter) const override {
    Value base = op.getLhs();
    std::optional<double> exponent = getSplat(op.getRhs());
    if (exponent == 1.0) {
      rewriter.replaceOp(op, base);
      return success();
    }
    if (exponent == 2.0) {
      rewriter.replaceOpWithNewOp<MulOp>(op, base, base);
      return success();
    }
    if (exponent == 3.0) {
      Value square = MulOp::create(rewriter, op.getLoc(), base, base);
      rewriter.replaceOpWithNewOp<MulOp>(op, square, base);
      return success();
    }
    if (exponent == 0.5) {
      rewriter.replaceOpWithNewOp<SqrtOp>(op, base);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "exponent is not 0.5, 1, 2 or 3");
  }
};
} // namespace

void PowOp::getCanonicalizationPatterns(RewritePatternSet &results,
                                        MLIRContext *context) {
  results.add<ExpandPower>(context);
}
