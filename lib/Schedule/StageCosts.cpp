//===- StageCosts.cpp - What the stages of a module cost
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/StageGraph.h"

#include "pipewright/Dialect/PP/ExchangedRows.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
using namespace pipewright;

static constexpr double picosecondsPerMicrosecond = 1e6;

namespace {
/// The times of a layer without the exchanges that it waits for.
struct LayerTimes {
  double forward = 0, inputGradient = 0, weightGradient = 0;
};
} // namespace

/// Those of the layers of \p stage; empty if any has no cost.
static std::vector<LayerTimes> getLayerTimes(pp::StageOp stage) {
  pp::ModelOp model = pp::getModel(stage->getParentOfType<ModuleOp>());
  if (!model)
    return {};
  std::vector<LayerTimes> times;
  size_t first = stage.getFirstLayer(), count = stage.getLayers().size();
  for (auto [index, op] :
       llvm::enumerate(model.getBody().getOps<pp::LayerOp>())) {
    pp::LayerOp layer = op;
    std::optional<pp::CostAttr> cost = layer.getCost();
    if (index < first || index >= first + count)
      continue;
    if (!cost)
      return {};
    auto compute = [&](int64_t time, bool ofGradients) {
      time -= pp::getExchangePicoseconds(layer, ofGradients);
      return std::max<int64_t>(time, 0) / picosecondsPerMicrosecond;
    };
    times.push_back({compute(cost->getPicosecondsF(), /*ofGradients=*/false),
                     compute(cost->getPicosecondsB(), /*ofGradients=*/true),
                     cost->getPicosecondsW() / picosecondsPerMicrosecond});
  }
  return times;
}

/// The layers that each part of an F task calls.
static std::vector<size_t> countCalls(ArrayRef<pp::TaskOp> parts) {
  std::vector<size_t> counts;
  for (pp::TaskOp part : parts)
    counts.push_back(llvm::range_size(part.getBody().getOps<nn::CallOp>()));
  return counts;
}

static std::vector<RolePart> listExchanges(ArrayRef<pp::TaskOp> parts) {
  std::vector<RolePart> result(parts.size());
  for (auto [part, op] : llvm::zip_equal(result, parts))
    for (StringRef name : StageGraph::getExchanges(op)) {
      auto exchange = SymbolTable::lookupNearestSymbolFrom<pp::ExchangeOp>(
          op, StringAttr::get(op->getContext(), name));
      part.exchange += exchange.getPicoseconds() / picosecondsPerMicrosecond;
    }
  return result;
}

/// Tells the parts of the stage's roles where replicas exchange rows: F calls
/// each of its layers once, and the backward goes the other way.
static void addParts(pp::StageOp stage, ArrayRef<pp::TaskOp> forward,
                     ArrayRef<pp::TaskOp> backward, bool addsWeights,
                     StageCost &cost) {
  std::vector<LayerTimes> layers = getLayerTimes(stage);
  std::vector<size_t> calls = countCalls(forward);
  if (forward.size() < 2 ||
      (!backward.empty() && backward.size() != forward.size()) ||
      std::accumulate(calls.begin(), calls.end(), size_t(0)) != layers.size())
    return;
  cost.hasWeightTask = !addsWeights;
  cost.forwardParts = listExchanges(forward);
  cost.backwardParts = listExchanges(backward);
  const LayerTimes *layer = layers.data();
  for (auto [index, count] : llvm::enumerate(calls))
    for (size_t call = 0; call < count; ++call, ++layer) {
      cost.forwardParts[index].compute += layer->forward;
      if (!backward.empty())
        cost.backwardParts[backward.size() - 1 - index].compute +=
            layer->inputGradient + (addsWeights ? layer->weightGradient : 0);
    }
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
      ArrayRef<pp::TaskOp> full = getParts(number, pp::Role::BW);
      addParts(stage, getParts(number, pp::Role::F),
               full.empty() ? getParts(number, pp::Role::B) : full,
               /*addsWeights=*/!full.empty(), cost);
    }
    costs.stages.push_back(cost);
  }
  return costs;
}
