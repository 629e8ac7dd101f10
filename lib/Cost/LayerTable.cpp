//===- LayerTable.cpp - The layers of a model, as a table
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/LayerTable.h"

#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

static int64_t countOps(nn::FunctionOp function) {
  return llvm::count_if(function.getBody().front().without_terminator(),
                        [](Operation &op) { return !isa<nn::ConstantOp>(op); });
}

static LayerRow makeRow(pp::LayerOp layer, SymbolTable &symbols) {
  LayerRow row;
  row.name = layer.getName().str();
  row.ops = countOps(symbols.lookup<nn::FunctionOp>(layer.getCallee()));
  for (auto name : layer.getParameters().getAsRange<FlatSymbolRefAttr>())
    row.parameters += symbols.lookup<pp::ParameterOp>(name.getValue())
                          .getWholeType()
                          .getNumElements();
  std::optional<pp::CostAttr> cost = layer.getCost();
  if (!cost)
    return row;
  row.flopsForward = cost->getFlopsF();
  row.flopsBackwardInput = cost->getFlopsB();
  row.flopsBackwardWeight = cost->getFlopsW();
  row.activationBytes = cost->getActivationBytes();
  row.residualBytes = cost->getKeptBytes(pp::RematPolicy::None);
  row.residualBytesSelective = cost->getKeptBytes(pp::RematPolicy::Selective);
  row.residualBytesFull = cost->getKeptBytes(pp::RematPolicy::Full);
  row.secondsForward = cost->getPicosecondsF() * 1e-12;
  row.secondsBackwardInput = cost->getPicosecondsB() * 1e-12;
  row.secondsBackwardWeight = cost->getPicosecondsW() * 1e-12;
  row.secondsRecomputeSelective =
      cost->getRecomputePicoseconds(pp::RematPolicy::Selective) * 1e-12;
  row.costSource = stringifyCostSource(cost->getSource()).str();
  return row;
}

LayerTable pipewright::makeLayerTable(ModuleOp module) {
  LayerTable table;
  SymbolTable symbols(module);
  for (auto parameter : module.getOps<pp::ParameterOp>())
    table.parameters += parameter.getWholeType().getNumElements();
  if (pp::ModelOp model = pp::getModel(module))
    for (auto layer : model.getBody().getOps<pp::LayerOp>())
      table.layers.push_back(makeRow(layer, symbols));
  return table;
}

llvm::json::Object pipewright::toJSON(const LayerTable &table) {
  llvm::json::Array layers;
  for (const LayerRow &row : table.layers)
    layers.push_back(llvm::json::Object{
        {"name", row.name},
        {"ops", row.ops},
        {"parameters", row.parameters},
        {"flops_forward", row.flopsForward},
        {"flops_backward_input", row.flopsBackwardInput},
        {"flops_backward_weight", row.flopsBackwardWeight},
        {"activation_bytes", row.activationBytes},
        {"residual_bytes", row.residualBytes},
        {"residual_bytes_selective", row.residualBytesSelective},
        {"residual_bytes_full", row.residualBytesFull},
        {"seconds_forward", row.secondsForward},
        {"seconds_backward_input", row.secondsBackwardInput},
        {"seconds_backward_weight", row.secondsBackwardWeight},
        {"seconds_recompute_selective", row.secondsRecomputeSelective},
        {"cost_source", row.costSource}});
  return llvm::json::Object{{"parameters", table.parameters},
                            {"layers", std::move(layers)}};
}
