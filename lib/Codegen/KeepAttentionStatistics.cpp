//===- KeepAttentionStatistics.cpp - Attention for a library
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionCalls.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace pipewright {
#define GEN_PASS_DEF_KEEPATTENTIONSTATISTICS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

static void keepStatistics(nn::AttentionOp op) {
  OpBuilder builder(op);
  RankedTensorType query = op.getQuery().getType();
  auto statistics = RankedTensorType::get(query.getShape().drop_back(),
                                          nn::getSumType(op.getQuery()));
  auto kept = nn::AttentionWithStatisticsOp::create(
      builder, op.getLoc(), op.getType(), statistics, op.getQuery(),
      op.getKey(), op.getValue(), op.getScaleAttr(), op.getCausalAttr());
  op.replaceAllUsesWith(kept.getResult());
  op.erase();
}

namespace {
struct KeepAttentionStatistics
    : pipewright::impl::KeepAttentionStatisticsBase<KeepAttentionStatistics> {
  using KeepAttentionStatisticsBase::KeepAttentionStatisticsBase;

  void runOnOperation() override {
    const CodegenTarget *target =
        TargetRegistry::get().findOrReport(targetName, getOperation().getLoc());
    if (!target)
      return signalPassFailure();
    getOperation().walk([&](nn::AttentionOp op) {
      if (!op.getMask() && !op.getSoftcap() &&
          target->hasAttention(describeAttention(op)))
        keepStatistics(op);
    });
  }
};
} // namespace
