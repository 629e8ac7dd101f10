//===- WeightGradients.cpp - Which layer has whose gradient
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/WeightGradients.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace pipewright;

llvm::StringMap<nn::DerivativeOp> pipewright::findDerivatives(ModuleOp module) {
  llvm::StringMap<nn::DerivativeOp> derivatives;
  for (auto derivative : module.getOps<nn::DerivativeOp>())
    derivatives.try_emplace(derivative.getPrimal(), derivative);
  return derivatives;
}

llvm::StringMap<SmallVector<int64_t>>
pipewright::findWeightGradients(ModuleOp module) {
  llvm::StringMap<nn::DerivativeOp> derivatives = findDerivatives(module);
  llvm::StringMap<SmallVector<int64_t>> layers;
  pp::ModelOp model = pp::getModel(module);
  if (!model)
    return layers;
  for (auto [index, layer] : llvm::enumerate(model.getOps<pp::LayerOp>())) {
    nn::DerivativeOp derivative = derivatives.lookup(layer.getCallee());
    if (!derivative)
      continue;
    for (int64_t argument : derivative.getWeightGradients()) {
      auto parameter = cast<FlatSymbolRefAttr>(
          layer.getParameters()[argument - layer.getArguments().size()]);
      layers[parameter.getValue()].push_back(index);
    }
  }
  return layers;
}
