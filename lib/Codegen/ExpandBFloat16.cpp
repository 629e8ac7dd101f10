//===- ExpandBFloat16.cpp - Conversions of bf16 by integer instructions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace pipewright {
#define GEN_PASS_DEF_EXPANDBFLOAT16
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

static Value bitcast(Type type, Value value, PatternRewriter &rewriter) {
  return arith::BitcastOp::create(rewriter, value.getLoc(), type, value);
}

namespace {
/// Adds half of the last place that is kept, a little less if that place is 0,
/// and cuts off the rest. A NaN would turn into infinity.
struct ExpandTruncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    if (!x.getType().isF32() || !op.getType().isBF16())
      return rewriter.notifyMatchFailure(op, "not from f32 to bf16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type word = b.getI32Type(), half = b.getI16Type();
    auto constant = [&](Type type, int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, type, value);
    };
    Value bits = bitcast(word, x, rewriter);
    Value sixteen = constant(word, 16);
    Value last = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, bits, sixteen), constant(word, 1));
    Value bias = arith::AddIOp::create(b, last, constant(word, 0x7FFF));
    Value rounded = arith::TruncIOp::create(
        b, half,
        arith::ShRUIOp::create(b, arith::AddIOp::create(b, bits, bias),
                               sixteen));
    Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
    Value result =
        arith::SelectOp::create(b, isNaN, constant(half, 0x7FC0), rounded);
    rewriter.replaceOp(op, bitcast(op.getType(), result, rewriter));
    return success();
  }
};

struct ExpandBFloat16 : pipewright::impl::ExpandBFloat16Base<ExpandBFloat16> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    patterns.add<ExpandTruncation>(&getContext(), /*benefit=*/2);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    storeAsIntegers();
  }

private:
  void storeAsIntegers();
};
} // namespace

/// LLVM turns what is left, moves and selections, into conversions and back
/// where it sees that it is about bf16.
void ExpandBFloat16::storeAsIntegers() {
  Type half = IntegerType::get(&getContext(), 16);
  AttrTypeReplacer replacer;
  replacer.addReplacement([=](BFloat16Type) { return half; });
  replacer.addReplacement([=](FloatAttr value) -> std::optional<Attribute> {
    if (!value.getType().isBF16())
      return std::nullopt;
    return IntegerAttr::get(half, value.getValue().bitcastToAPInt());
  });
  replacer.addReplacement(
      [=](DenseElementsAttr values) -> std::optional<Attribute> {
        if (!values.getElementType().isBF16())
          return std::nullopt;
        return values.bitcast(half);
      });
  replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}
