//===- RaisePatterns.cpp - Finds ops that exporters spell out
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/Passes.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace pipewright {
#define GEN_PASS_DEF_RAISEPATTERNS
#include "pipewright/Import/Passes.h.inc"

#define PIPEWRIGHT_ENTRY(pattern)                                              \
  void register##pattern(mlir::RewritePatternSet &patterns);
#include "pipewright/Import/RaisePatterns.def"
#undef PIPEWRIGHT_ENTRY
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
/// Says what was raised and what came close, as optimization remarks of the
/// category "raise". A pattern gives a reason only where much of it matches.
class RaiseRemarks : public RewriterBase::Listener {
public:
  void notifyPatternBegin(const Pattern &, Operation *) override {
    inserted.clear();
  }
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    inserted.insert(op);
  }
  void notifyOperationErased(Operation *op) override { inserted.erase(op); }
  void notifyOperationReplaced(Operation *op, ValueRange values) override;
  void
  notifyMatchFailure(Location loc,
                     function_ref<void(Diagnostic &)> writeReason) override;

  /// Reports what is left of \p module's ops.
  void reportLeft(Operation *module) const;

private:
  /// What the pattern at work has made.
  DenseSet<Operation *> inserted;
  /// Why the last pattern left the op at a location alone.
  DenseMap<Location, std::string> reasons;
};

struct RaisePatterns : pipewright::impl::RaisePatternsBase<RaisePatterns> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
#define PIPEWRIGHT_ENTRY(pattern) register##pattern(patterns);
#include "pipewright/Import/RaisePatterns.def"
#undef PIPEWRIGHT_ENTRY
    RaiseRemarks remarks;
    GreedyRewriteConfig config;
    if (getContext().getRemarkEngine())
      config.setListener(&remarks);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    remarks.reportLeft(getOperation());
  }
};
} // namespace

static remark::RemarkOpts getRaiseOptions(Operation *op) {
  return remark::RemarkOpts::name(op->getName().stripDialect())
      .category("raise");
}

void RaiseRemarks::notifyOperationReplaced(Operation *op, ValueRange values) {
  Operation *raised = values.empty() ? nullptr : values[0].getDefiningOp();
  if (auto reshape = dyn_cast_if_present<nn::ReshapeOp>(raised))
    raised = reshape.getOperand().getDefiningOp();
  // Folding replaces ops too, by what was there.
  if (raised && inserted.erase(raised))
    remark::passed(op->getLoc(), getRaiseOptions(raised)) << "raised";
}

void RaiseRemarks::notifyMatchFailure(
    Location loc, function_ref<void(Diagnostic &)> writeReason) {
  Diagnostic reason(loc, DiagnosticSeverity::Remark);
  writeReason(reason);
  reasons[loc] = reason.str();
}

void RaiseRemarks::reportLeft(Operation *module) const {
  module->walk([&](Operation *op) {
    auto reason = reasons.find(op->getLoc());
    if (reason != reasons.end() &&
        isa<nn::SoftmaxOp, nn::ErfOp, nn::TanhOp>(op))
      remark::missed(op->getLoc(), getRaiseOptions(op))
          << StringRef(reason->second);
  });
}
