//===- AnnotateCosts.cpp - Put a cost on each layer
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/Passes.h"

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Cost/FunctionCost.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <cmath>

namespace pipewright {
#define GEN_PASS_DEF_ANNOTATECOSTS
#include "pipewright/Cost/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct AnnotateCosts : pipewright::impl::AnnotateCostsBase<AnnotateCosts> {
  using AnnotateCostsBase::AnnotateCostsBase;
  void runOnOperation() override;

private:
  pp::CostAttr price(pp::LayerOp layer, SymbolTable &symbols);
  pp::CostAttr estimate(pp::LayerOp layer, nn::FunctionOp function);
  pp::CostAttr makeCost(const FunctionCost &forward,
                        const FunctionCost &backward,
                        const FunctionCost &weight, int64_t activationBytes,
                        int64_t residualBytes);

  Device device;
  llvm::DenseMap<Attribute, nn::DerivativeOp> derivatives;
};
} // namespace

static int64_t toPicoseconds(double seconds) {
  return std::llround(seconds * 1e12);
}

pp::CostAttr AnnotateCosts::makeCost(const FunctionCost &forward,
                                     const FunctionCost &backward,
                                     const FunctionCost &weight,
                                     int64_t activationBytes,
                                     int64_t residualBytes) {
  return pp::CostAttr::get(
      &getContext(), forward.work.flops, backward.work.flops, weight.work.flops,
      toPicoseconds(forward.seconds), toPicoseconds(backward.seconds),
      toPicoseconds(weight.seconds), activationBytes, residualBytes,
      pp::CostSource::Formula);
}

static int64_t getResultBytes(pp::LayerOp layer) {
  int64_t bytes = 0;
  for (Type type : layer.getResultTypes())
    bytes += pp::getBytes(type);
  return bytes;
}

/// Without a derivative: B and W repeat the contractions, and the result of
/// each op that does arithmetic is kept.
pp::CostAttr AnnotateCosts::estimate(pp::LayerOp layer,
                                     nn::FunctionOp function) {
  FunctionCost contractions =
      priceFunction(function, device, /*contractionsOnly=*/true);
  int64_t residualBytes = 0;
  for (Operation &op : function.getBody().front().without_terminator()) {
    std::optional<Work> work = FormulaRegistry::get().evaluate(&op);
    if (work && work->flops != 0)
      residualBytes += work->bytesWritten;
  }
  bool hasParameters = !layer.getParameters().empty();
  return makeCost(priceFunction(function, device), contractions,
                  hasParameters ? contractions : FunctionCost(),
                  getResultBytes(layer), residualBytes);
}

pp::CostAttr AnnotateCosts::price(pp::LayerOp layer, SymbolTable &symbols) {
  auto lookup = [&](std::optional<StringRef> name) {
    return name ? symbols.lookup<nn::FunctionOp>(*name) : nn::FunctionOp();
  };
  nn::DerivativeOp derivative = derivatives.lookup(layer.getCalleeAttr());
  if (!derivative)
    return estimate(layer, lookup(layer.getCallee()));
  nn::FunctionOp forward = lookup(derivative.getForward());
  nn::FunctionOp backward = lookup(derivative.getBackward());
  nn::FunctionOp weight = lookup(derivative.getWeight());
  return makeCost(priceFunction(forward, device),
                  backward ? priceFunction(backward, device) : FunctionCost(),
                  weight ? priceFunction(weight, device) : FunctionCost(),
                  getResultBytes(layer),
                  getResidualBytes(layer, derivative, forward));
}

void AnnotateCosts::runOnOperation() {
  pp::ModelOp model = pp::getModel(getOperation());
  if (!model)
    return;
  llvm::Expected<Device> loaded = loadDevice(deviceName);
  if (!loaded) {
    emitError(UnknownLoc::get(&getContext()))
        << llvm::toString(loaded.takeError());
    return signalPassFailure();
  }
  device = std::move(*loaded);
  SymbolTable symbols(getOperation());
  derivatives.clear();
  for (auto derivative : getOperation().getOps<nn::DerivativeOp>())
    derivatives[derivative.getPrimalAttr()] = derivative;
  for (auto layer : model.getBody().getOps<pp::LayerOp>())
    layer.setCostAttr(price(layer, symbols));
  pp::setPhase(getOperation(), pp::Phase::Cost);
}
