//===- LowerDeviceMath.cpp - Math functions as instructions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intrinsics are called by name: as ops of the LLVM dialect the conversion to
// NVVM would turn them into calls of the toolkit's library.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

namespace pipewright {
#define GEN_PASS_DEF_LOWERDEVICEMATH
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

static Value callIntrinsic(OpBuilder &builder, Location loc, StringRef name,
                           ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(builder, loc, operands[0].getType(),
                                       builder.getStringAttr(name), operands)
      .getResult(0);
}

namespace {
/// An op that is an instruction of the device.
template <typename OpTy>
struct ToIntrinsic : OpRewritePattern<OpTy> {
  ToIntrinsic(MLIRContext *context, StringRef name)
      : OpRewritePattern<OpTy>(context), name(name) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not of f32");
    rewriter.replaceOp(
        op, callIntrinsic(rewriter, op.getLoc(), name, op->getOperands()));
    return success();
  }

  StringRef name;
};

struct ExpToExp2 : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not of f32");
    Value factor = arith::ConstantOp::create(
        rewriter, op.getLoc(), rewriter.getF32FloatAttr(llvm::numbers::log2ef));
    Value scaled =
        arith::MulFOp::create(rewriter, op.getLoc(), op.getOperand(), factor);
    rewriter.replaceOpWithNewOp<math::Exp2Op>(op, scaled);
    return success();
  }
};

/// Exact to a few units in the last place, unlike the device's instruction.
struct RsqrtToDivision : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::RsqrtOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not of f32");
    Value one = arith::ConstantOp::create(rewriter, op.getLoc(),
                                          rewriter.getF32FloatAttr(1));
    Value root = math::SqrtOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one, root);
    return success();
  }
};

struct LowerDeviceMath
    : pipewright::impl::LowerDeviceMathBase<LowerDeviceMath> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<ExpToExp2, RsqrtToDivision>(context);
    patterns.add<ToIntrinsic<math::Exp2Op>>(context, "llvm.exp2.f32");
    patterns.add<ToIntrinsic<math::SqrtOp>>(context, "llvm.sqrt.f32");
    patterns.add<ToIntrinsic<math::AbsFOp>>(context, "llvm.fabs.f32");
    patterns.add<ToIntrinsic<math::FloorOp>>(context, "llvm.floor.f32");
    patterns.add<ToIntrinsic<math::CeilOp>>(context, "llvm.ceil.f32");
    patterns.add<ToIntrinsic<math::TruncOp>>(context, "llvm.trunc.f32");
    patterns.add<ToIntrinsic<math::RoundEvenOp>>(context, "llvm.roundeven.f32");
    patterns.add<ToIntrinsic<math::CopySignOp>>(context, "llvm.copysign.f32");
    patterns.add<ToIntrinsic<math::FmaOp>>(context, "llvm.fma.f32");
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return name == math::LogOp::getOperationName() ||
             name == math::TanhOp::getOperationName() ||
             name == math::ErfOp::getOperationName();
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
