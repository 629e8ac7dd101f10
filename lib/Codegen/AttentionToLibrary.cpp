//===- AttentionToLibrary.cpp - Attention as calls of a library
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionCalls.h"
#include "Destination.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace pipewright {
#define GEN_PASS_DEF_ATTENTIONTOLIBRARY
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

/// Where the results of \p op go, in their order.
static SmallVector<Destination> takeDestinations(Operation *op,
                                                 RewriterBase &rewriter) {
  return llvm::map_to_vector(op->getResults(), [&](Value result) {
    return takeDestination(result, rewriter, /*canAccumulate=*/false);
  });
}

static void lowerToCall(nn::AttentionWithStatisticsOp op,
                        const CodegenTarget &target, RewriterBase &rewriter) {
  AttentionCall call = describeAttention(op);
  SmallVector<Destination> destinations = takeDestinations(op, rewriter);
  for (Value *operand : {&call.query, &call.key, &call.value})
    *operand = destinations.front().getReadBuffer(*operand, rewriter);
  call.result = destinations[0].buffer;
  call.statistics = destinations[1].buffer;
  target.emitAttention(call, op.getLoc(), rewriter);
  finishDestinations(destinations, op, rewriter);
}

static void lowerToCall(nn::AttentionGradOp op, const CodegenTarget &target,
                        RewriterBase &rewriter) {
  AttentionGradientCall call;
  call.attention = describeAttention(op);
  call.attention.statistics = op.getStatistics();
  call.gradient = op.getCotangent();
  call.workspaceBytes = target.getAttentionWorkspace(call.attention);
  SmallVector<Destination> destinations = takeDestinations(op, rewriter);
  call.workspace = memref::AllocOp::create(
      rewriter, op.getLoc(),
      MemRefType::get({call.workspaceBytes}, rewriter.getI8Type()));
  for (Value *operand : {&call.gradient, &call.attention.query,
                         &call.attention.key, &call.attention.value,
                         &call.attention.result, &call.attention.statistics})
    *operand = destinations.front().getReadBuffer(*operand, rewriter);
  call.queryGradient = destinations[0].buffer;
  call.keyGradient = destinations[1].buffer;
  call.valueGradient = destinations[2].buffer;
  target.emitAttentionGradient(call, op.getLoc(), rewriter);
  finishDestinations(destinations, op, rewriter);
}

namespace {
struct AttentionToLibrary
    : pipewright::impl::AttentionToLibraryBase<AttentionToLibrary> {
  using AttentionToLibraryBase::AttentionToLibraryBase;

  void runOnOperation() override {
    const CodegenTarget *target =
        TargetRegistry::get().findOrReport(targetName, getOperation().getLoc());
    if (!target)
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    lowerAll<nn::AttentionWithStatisticsOp>(*target, rewriter);
    lowerAll<nn::AttentionGradOp>(*target, rewriter);
  }

private:
  template <typename OpTy>
  void lowerAll(const CodegenTarget &target, RewriterBase &rewriter) {
    // First all of them: where results are copied to goes with an op.
    SmallVector<OpTy> ops;
    getOperation().walk([&](OpTy op) {
      if (target.hasAttention(describeAttention(op)))
        ops.push_back(op);
    });
    for (OpTy op : ops)
      lowerToCall(op, target, rewriter);
  }
};
} // namespace
