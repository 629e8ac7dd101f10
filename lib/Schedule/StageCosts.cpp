//===- StageCosts.cpp - What the stages of a module cost
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/StageGraph.h"

#include "pipewright/Dialect/PP/ExchangedRows.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pipewright;

static constexpr double picosecondsPerMicrosecond = 1e6;

LayerCost pipewright::getLayerCost(pp::LayerOp layer, double unit) {
  pp::CostAttr cost = *layer.getCost();
  int64_t exchange = pp::getExchangePicoseconds(layer);
  int64_t gradientExchange =
      pp::getExchangePicoseconds(layer, /*ofGradients=*/true);
  // A layer without B has no gradients to send.
  gradientExchange =
      std::min<int64_t>(gradientExchange, cost.getPicosecondsB());
  return {(cost.getPicosecondsF() - exchange) / unit,
          (cost.getPicosecondsB() - gradientExchange) / unit,
          cost.getPicosecondsW() / unit,
          !pp::findExchanged(layer).empty(),
          exchange / unit,
          gradientExchange / unit};
}

/// Of the layers of \p stage; none if any has no cost.
static std::vector<LayerCost> listLayers(pp::StageOp stage) {
  pp::ModelOp model = pp::getModel(stage->getParentOfType<ModuleOp>());
  if (!model)
    return {};
  std::vector<LayerCost> times;
  auto layers = llvm::drop_begin(model.getBody().getOps<pp::LayerOp>(),
                                 stage.getFirstLayer());
  for (auto [name, layer] : llvm::zip(stage.getLayers(), layers)) {
    if (!layer.getCost())
      return {};
    times.push_back(getLayerCost(layer, picosecondsPerMicrosecond));
  }
  return times;
}

CostModel StageGraph::getCosts() const {
  CostModel costs;
  for (int64_t number = 0; number < getStages(); ++number) {
    pp::StageOp stage = getStage(number);
    StageCost cost;
    if (std::optional<pp::CostAttr> known = stage.getCost()) {
      cost.f = known->getPicosecondsF() / picosecondsPerMicrosecond;
      cost.b = known->getPicosecondsB() / picosecondsPerMicrosecond;
      cost.w = known->getPicosecondsW() / picosecondsPerMicrosecond;
      cost.r = known->getPicosecondsR() / picosecondsPerMicrosecond;
      bool hasWeightTask = !getParts(number, pp::Role::W).empty();
      addRoleParts(listLayers(stage), hasWeightTask, cost);
    }
    costs.stages.push_back(cost);
  }
  return costs;
}
