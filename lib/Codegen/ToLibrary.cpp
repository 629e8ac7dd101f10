//===- ToLibrary.cpp - Ops as calls of the target's library
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convolutions.h"
#include "Destination.h"
#include "Epilogues.h"
#include "Pooling.h"
#include "Windows.h"

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Codegen/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace pipewright {
#define GEN_PASS_DEF_TOLIBRARY
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

/// The operand of \p op without a broadcast of one matrix over all batches.
static Value getOneMatrix(Value operand) {
  auto broadcast = operand.getDefiningOp<nn::BroadcastOp>();
  if (!broadcast)
    return {};
  auto source = cast<RankedTensorType>(broadcast.getOperand().getType());
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t matrix = type.getShape().take_back(2)[0] * type.getShape().back();
  bool whole = source.getRank() >= 2 &&
               source.getShape().take_back(2) == type.getShape().take_back(2);
  return whole && source.getNumElements() == matrix ? broadcast.getOperand()
                                                    : Value();
}

/// \p operand, or what it is the transpose of: the library reads it across, so
/// that no transpose has to be in memory.
static std::pair<Value, bool> readAcross(Value operand, bool isTransposed) {
  auto transpose = operand.getDefiningOp<nn::TransposeOp>();
  if (!transpose)
    return {operand, isTransposed};
  SmallVector<int64_t> swap(transpose.getPermutation());
  std::swap(swap[swap.size() - 2], swap[swap.size() - 1]);
  if (!llvm::equal(swap, llvm::seq<int64_t>(0, swap.size())))
    return {operand, isTransposed};
  return {transpose.getOperand(), !isTransposed};
}

/// The call that computes \p op, with tensors for operands and no result yet.
static MatMulCall describe(nn::MatMulOp op) {
  ArrayRef<int64_t> result = op.getResult().getType().getShape();
  MatMulCall call;
  std::tie(call.lhs, call.transposeLhs) =
      readAcross(op.getLhs(), op.getTransposeLhs());
  std::tie(call.rhs, call.transposeRhs) =
      readAcross(op.getRhs(), op.getTransposeRhs());
  ArrayRef<int64_t> lhs = cast<RankedTensorType>(call.lhs.getType()).getShape();
  call.batch = ShapedType::getNumElements(result.drop_back(2));
  call.m = result[result.size() - 2];
  call.n = result.back();
  call.k = lhs[lhs.size() - (call.transposeLhs ? 2 : 1)];
  call.strideLhs = call.m * call.k;
  call.strideRhs = call.k * call.n;
  call.strideResult = call.m * call.n;

  if (Value matrix = getOneMatrix(call.rhs)) {
    call.rhs = matrix;
    call.strideRhs = 0;
    // Rows of all batches times one matrix are one product.
    if (!call.transposeLhs) {
      call.m *= call.batch;
      call.batch = 1;
    }
  }
  if (Value matrix = getOneMatrix(call.lhs); matrix && call.batch > 1) {
    call.lhs = matrix;
    call.strideLhs = 0;
  }
  return call;
}

/// The same for products by expert, of which the packed rows are missing too.
static ExpertCall describe(nn::ExpertMatMulOp op) {
  ExpertCall call{};
  call.form = ExpertForm::Product;
  call.lhs = op.getRows();
  call.rhs = op.getWeights();
  call.experts = op.getExperts();
  call.rows = op.getRows().getType().getDimSize(0);
  call.expertCount = op.getWeights().getType().getDimSize(0);
  call.m = op.getRows().getType().getDimSize(1);
  call.n = op.getResult().getType().getDimSize(1);
  call.transposeRhs = op.getTransposeWeights();
  return call;
}

static ExpertCall describe(nn::ExpertOuterOp op) {
  ArrayRef<int64_t> shape = op.getResult().getType().getShape();
  ExpertCall call{};
  call.form = ExpertForm::Outer;
  call.lhs = op.getLhs();
  call.rhs = op.getRhs();
  call.experts = op.getExperts();
  call.rows = op.getLhs().getType().getDimSize(0);
  call.expertCount = shape[0];
  call.m = shape[1];
  call.n = shape[2];
  return call;
}

static void lowerToCall(nn::MatMulOp op, const CodegenTarget &target,
                        RewriterBase &rewriter) {
  MatMulCall call = describe(op);
  Destination destination = takeDestination(op.getResult(), rewriter);
  call.lhs = destination.getReadBuffer(call.lhs, rewriter);
  call.rhs = destination.getReadBuffer(call.rhs, rewriter);
  call.result = destination.buffer;
  call.accumulate = destination.accumulate;
  target.emitMatMul(call, op.getLoc(), rewriter);
  finishDestination(destination, op.getResult(), rewriter);
}

/// A buffer for \p rows rows of \p size elements like those of \p tensor.
static Value allocateRows(int64_t rows, int64_t size, Value tensor,
                          RewriterBase &rewriter) {
  return memref::AllocOp::create(
      rewriter, tensor.getLoc(),
      MemRefType::get({rows, size}, getElementTypeOrSelf(tensor)));
}

template <typename OpTy>
static void lowerExpertsToCall(OpTy op, const CodegenTarget &target,
                               RewriterBase &rewriter) {
  ExpertCall call = describe(op);
  bool isProduct = call.form == ExpertForm::Product;
  Destination destination = takeDestination(op.getResult(), rewriter,
                                            /*canAccumulate=*/!isProduct);
  call.packedLhs = allocateRows(call.rows, call.m, call.lhs, rewriter);
  call.packedOther =
      allocateRows(call.rows, call.n,
                   isProduct ? Value(op.getResult()) : call.rhs, rewriter);
  for (Value *operand : {&call.lhs, &call.rhs, &call.experts})
    *operand = destination.getReadBuffer(*operand, rewriter);
  call.result = destination.buffer;
  call.accumulate = destination.accumulate;
  target.emitExpertCall(call, op.getLoc(), rewriter);
  finishDestination(destination, op.getResult(), rewriter);
}

static void lowerToCall(nn::ExpertMatMulOp op, const CodegenTarget &target,
                        RewriterBase &rewriter) {
  lowerExpertsToCall(op, target, rewriter);
}

static void lowerToCall(nn::ExpertOuterOp op, const CodegenTarget &target,
                        RewriterBase &rewriter) {
  lowerExpertsToCall(op, target, rewriter);
}

/// Has \p result rounded to \p element in a tensor of its own, which what used
/// it reads; returns that tensor.
static Value round(Value result, Type element, RewriterBase &rewriter) {
  Type wide = getElementTypeOrSelf(result);
  if (wide == element)
    return result;
  rewriter.setInsertionPointAfterValue(result);
  Value rounded = castTo(element, result, rewriter);
  Value widened = castTo(wide, rounded, rewriter);
  rewriter.replaceAllUsesExcept(result, widened, rounded.getDefiningOp());
  return rounded;
}

/// Makes the convolution that \p op is the product of a call, if the library
/// has it.
static void lowerConvolutionToCall(nn::MatMulOp op, const CodegenTarget &target,
                                   RewriterBase &rewriter) {
  std::optional<ConvolutionCall> call =
      matchConvolution(op, describe(op), rewriter);
  if (!call)
    return;
  if (!target.hasConvolution(*call))
    return eraseDead({call->lhs, call->rhs}, rewriter);
  Location loc = op.getLoc();
  Value result = round(call->result, getElementTypeOrSelf(call->lhs), rewriter);
  SmallVector<Value> before(result.getDefiningOp()->getOperands());
  Destination destination = takeDestination(result, rewriter);
  call->lhs = destination.getReadBuffer(call->lhs, rewriter);
  call->rhs = destination.getReadBuffer(call->rhs, rewriter);
  call->result = destination.buffer;
  call->accumulate = destination.accumulate;
  target.emitConvolution(*call, loc, rewriter);
  finishDestination(destination, result, rewriter);
  eraseDead(before, rewriter);
}

/// Makes \p call, if there is pooling and the library has it.
static void lowerPoolingToCall(std::optional<PoolingCall> call, Location loc,
                               const CodegenTarget &target,
                               RewriterBase &rewriter) {
  if (!call)
    return;
  SmallVector<Value *> operands;
  for (Value *operand : {&call->image, &call->pooled, &call->pooledGradient})
    if (*operand)
      operands.push_back(operand);
  if (!target.hasPooling(*call)) {
    for (Value *operand : operands)
      eraseDead(*operand, rewriter);
    return;
  }
  Value result =
      round(call->result, getElementTypeOrSelf(*operands.front()), rewriter);
  SmallVector<Value> before(result.getDefiningOp()->getOperands());
  Destination destination =
      takeDestination(result, rewriter, /*canAccumulate=*/false);
  for (Value *operand : operands)
    *operand = destination.getReadBuffer(*operand, rewriter);
  call->result = destination.buffer;
  target.emitPooling(*call, loc, rewriter);
  finishDestination(destination, result, rewriter);
  eraseDead(before, rewriter);
}

/// The ops of one kind in the functions of \p module.
template <typename OpTy>
static SmallVector<OpTy> collect(ModuleOp module) {
  SmallVector<OpTy> ops;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](OpTy op) { ops.push_back(op); });
  return ops;
}

/// Gradients first: they find the first of the largest by reductions, too,
/// which are gone then.
static void lowerPoolingToCalls(ModuleOp module, const CodegenTarget &target,
                                RewriterBase &rewriter) {
  for (nn::Col2ImOp op : collect<nn::Col2ImOp>(module))
    lowerPoolingToCall(matchPoolingGradient(op, rewriter), op.getLoc(), target,
                       rewriter);
  for (nn::ReduceOp op : collect<nn::ReduceOp>(module))
    lowerPoolingToCall(matchPooling(op), op.getLoc(), target, rewriter);
}

/// The ops in the functions of \p module that may be calls.
static SmallVector<Operation *> collectContractions(ModuleOp module) {
  SmallVector<Operation *> contractions;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](Operation *op) {
      if (op->hasTrait<nn::Contraction>())
        contractions.push_back(op);
    });
  return contractions;
}

namespace {
struct ToLibrary : pipewright::impl::ToLibraryBase<ToLibrary> {
  using ToLibraryBase::ToLibraryBase;

  void runOnOperation() override {
    const CodegenTarget *target =
        TargetRegistry::get().findOrReport(targetName, getOperation().getLoc());
    if (!target)
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    if (convolutions) {
      for (nn::MatMulOp product : collect<nn::MatMulOp>(getOperation()))
        lowerConvolutionToCall(product, *target, rewriter);
      lowerPoolingToCalls(getOperation(), *target, rewriter);
    }

    for (Operation *op : collectContractions(getOperation()))
      if (auto product = dyn_cast<nn::MatMulOp>(op))
        if (!lowerBiasGradient(product, describe(product), *target, rewriter))
          lowerEpilogue(product, describe(product), *target, rewriter);

    for (Operation *op : collectContractions(getOperation()))
      if (target->hasMatMul(getElementTypeOrSelf(op->getOperand(0))))
        llvm::TypeSwitch<Operation *>(op)
            .Case<nn::MatMulOp, nn::ExpertMatMulOp, nn::ExpertOuterOp>(
                [&](auto product) { lowerToCall(product, *target, rewriter); });
  }
};
} // namespace
