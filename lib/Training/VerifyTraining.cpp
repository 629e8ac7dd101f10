//===- VerifyTraining.cpp - One gradient and one update per parameter
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Training/Passes.h"
#include "pipewright/Training/WeightGradients.h"

#include "mlir/IR/BuiltinOps.h"

namespace pipewright {
#define GEN_PASS_DEF_VERIFYTRAINING
#include "pipewright/Training/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct VerifyTraining : pipewright::impl::VerifyTrainingBase<VerifyTraining> {
  using VerifyTrainingBase::VerifyTrainingBase;

  void runOnOperation() override;

private:
  LogicalResult checkModel(pp::ModelOp model);
  LogicalResult checkUpdates();
};
} // namespace

LogicalResult VerifyTraining::checkModel(pp::ModelOp model) {
  if (!model)
    return getOperation().emitError("has no 'pp.model'");
  auto exit = cast<pp::ReturnOp>(model.getBody().front().getTerminator());
  if (exit.getLoss().empty())
    return model.emitOpError("has no loss");
  llvm::StringMap<nn::DerivativeOp> derivatives =
      findDerivatives(getOperation());
  for (auto layer : model.getOps<pp::LayerOp>())
    if (!derivatives.contains(layer.getCallee()))
      return layer.emitOpError("calls '")
             << layer.getCallee() << "', which has no derivative";
  for (auto derivative : getOperation().getOps<nn::DerivativeOp>())
    if (derivatives.lookup(derivative.getPrimal()) != derivative)
      return derivative.emitOpError("is the second of '")
             << derivative.getPrimal() << "'";
  return success();
}

LogicalResult VerifyTraining::checkUpdates() {
  ModuleOp module = getOperation();
  if (!llvm::hasSingleElement(module.getOps<pp::UpdateRuleOp>()))
    return module.emitError("does not have one 'pp.update_rule'");
  llvm::StringMap<SmallVector<int64_t>> layers = findWeightGradients(module);
  llvm::StringMap<pp::UpdateOp> updates;
  for (auto update : module.getOps<pp::UpdateOp>()) {
    StringRef name = update.getParameter();
    if (!updates.try_emplace(name, update).second)
      return update.emitOpError("is the second of '") << name << "'";
    ArrayRef<int64_t> withGradient = layers[name];
    if (update.getLayers() != withGradient)
      return update.emitOpError("of '")
             << name << "' lists layers " << update.getLayers()
             << ", but its gradients are those of layers " << withGradient;
  }
  for (auto parameter : module.getOps<pp::ParameterOp>())
    if (parameter.getTrainable() && !updates.contains(parameter.getSymName()))
      return parameter.emitOpError("is trainable but has no update");
  return success();
}

void VerifyTraining::runOnOperation() {
  if (failed(checkModel(pp::getModel(getOperation()))) ||
      failed(checkUpdates()))
    signalPassFailure();
}
