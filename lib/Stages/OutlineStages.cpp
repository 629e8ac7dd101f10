//===- OutlineStages.cpp - Make the tasks of each stage
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Stages/Passes.h"

#include "StageOutliner.h"

namespace pipewright {
#define GEN_PASS_DEF_OUTLINESTAGES
#include "pipewright/Stages/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct OutlineStages : pipewright::impl::OutlineStagesBase<OutlineStages> {
  using OutlineStagesBase::OutlineStagesBase;
  void runOnOperation() override;

private:
  LogicalResult outline(uint64_t direction, SymbolTable &symbols);
};
} // namespace

/// Declares both channels of each crossing, named by the stage they leave.
static void declareChannels(StagedModel &model, SymbolTable &symbols) {
  OpBuilder builder(model.getModel().getContext());
  SmallVector<pp::StageOp> stages(model.getStages());
  SmallVector<int64_t> activations(stages.size(), 0);
  SmallVector<int64_t> gradients(stages.size(), 0);
  auto declare = [&](pp::ChannelKind kind, int64_t source, int64_t target,
                     int64_t number, Value value) {
    auto channel = pp::ChannelOp::create(
        builder, value.getLoc(), pp::nameChannel(kind, stages[source], number),
        kind, stages[source].getSymName(), stages[target].getSymName(),
        cast<RankedTensorType>(value.getType()));
    symbols.insert(channel);
    return channel;
  };
  for (Crossing &crossing : model.getCrossings())
    crossing.activation =
        declare(pp::ChannelKind::Activation, crossing.source, crossing.target,
                activations[crossing.source]++, crossing.value);
  for (Crossing &crossing : model.getCrossings())
    if (crossing.hasGradient)
      crossing.gradient =
          declare(pp::ChannelKind::Gradient, crossing.target, crossing.source,
                  gradients[crossing.target]++, crossing.value);
}

LogicalResult OutlineStages::outline(uint64_t direction, SymbolTable &symbols) {
  FailureOr<StagedModel> model =
      StagedModel::get(getOperation(), symbols, direction);
  if (failed(model))
    return failure();
  declareChannels(*model, symbols);
  for (size_t stage = 0; stage < model->getStages().size(); ++stage)
    StageOutliner(*model, symbols, stage, backward == BackwardForm::Split)
        .run();
  return success();
}

void OutlineStages::runOnOperation() {
  SymbolTable symbols(getOperation());
  bool isBothWays =
      llvm::any_of(getOperation().getOps<pp::StageOp>(),
                   [](pp::StageOp stage) { return stage.getDirection() != 0; });
  if (failed(outline(/*direction=*/0, symbols)) ||
      (isBothWays && failed(outline(/*direction=*/1, symbols))))
    return signalPassFailure();
  pp::setPhase(getOperation(), pp::Phase::Stages);
}
