//===- PricedModel.cpp - A model as a planner sees it
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PricedModel.h"

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/ExchangedRows.h"
#include "pipewright/Dialect/PP/ParameterBytes.h"
#include "pipewright/Schedule/StageGraph.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pipewright;

static void addCost(pp::CostAttr cost, PlanLayer &layer) {
  layer.forward += cost.getPicosecondsF();
  layer.backward += cost.getPicosecondsB();
  layer.weight += cost.getPicosecondsW();
  layer.savedBytes += cost.getResidualBytes();
  layer.selectiveBytes += cost.getSelectiveBytes();
  layer.selectiveTime += cost.getPicosecondsR();
}

std::vector<PlanLayer> pipewright::makePlanLayers(ModuleOp module,
                                                  const LayerUnits &units) {
  SymbolTable symbols(module);
  int64_t copies = pp::countCopies(module);
  std::vector<PlanLayer> layers(units.size());
  SmallVector<int64_t> bytesBefore = units.getBytesBefore();
  for (auto [index, layer] : llvm::enumerate(layers)) {
    layer.bytesBefore = bytesBefore[index];
    llvm::SetVector<Attribute> parameters;
    for (pp::LayerOp one : units[index]) {
      parameters.insert_range(one.getParameters());
      addCost(*one.getCost(), layer);
      layer.exchangedBytes += pp::getExchangedBytes(one);
      layer.exchangeTime += pp::getExchangePicoseconds(one);
      layer.exchangingLayers.push_back(getLayerCost(one, /*unit=*/1));
    }
    if (llvm::none_of(layer.exchangingLayers,
                      [](const LayerCost &times) { return times.exchanges; }))
      layer.exchangingLayers.clear();
    layer.parameterBytes =
        pp::getParameterBytes(parameters.getArrayRef(), symbols, copies);
    parameters.remove_if([&](Attribute name) {
      auto symbol = cast<FlatSymbolRefAttr>(name);
      return symbols.lookup<pp::ParameterOp>(symbol.getValue()).getShards() ==
             1;
    });
    layer.shardBytes =
        pp::getParameterBytes(parameters.getArrayRef(), symbols, copies);
  }
  return layers;
}

int64_t pipewright::countFlops(const LayerUnits &units) {
  int64_t flops = 0;
  for (pp::LayerOp layer : units.getLayers()) {
    pp::CostAttr cost = *layer.getCost();
    flops += cost.getFlopsF() + cost.getFlopsB() + cost.getFlopsW();
  }
  return flops;
}

FloatKind pipewright::getMainKind(ModuleOp module) {
  std::array<int64_t, 4> flops = {};
  for (auto function : module.getOps<nn::FunctionOp>())
    for (Operation &op : function.getBody().front().without_terminator())
      if (std::optional<Work> work = FormulaRegistry::get().evaluate(&op))
        flops[static_cast<size_t>(getFloatKind(&op))] += work->flops;
  return static_cast<FloatKind>(llvm::max_element(flops) - flops.begin());
}

int64_t pipewright::countTokens(ModuleOp module) {
  pp::ModelOp model = pp::getModel(module);
  int64_t samples = 1;
  std::optional<int64_t> labels, integers;
  for (BlockArgument argument : model.getBody().getArguments()) {
    pp::InputAttr spec = model.getInputSpec(argument.getArgNumber());
    auto type = cast<RankedTensorType>(argument.getType());
    if (spec.getAxis() < 0)
      continue;
    samples = type.getDimSize(spec.getAxis());
    if (spec.getLabelClasses() != 0)
      labels = type.getNumElements();
    else if (!integers && type.getElementType().isInteger())
      integers = type.getNumElements();
  }
  return labels ? *labels : integers.value_or(samples);
}

PricedModel::PricedModel(OwningOpRef<ModuleOp> read)
    : module(std::move(read)), units(pp::getModel(*module)),
      layers(makePlanLayers(*module, units)), copies(pp::countCopies(*module)),
      flops(countFlops(units)), tokens(countTokens(*module)),
      kind(getMainKind(*module)) {}
