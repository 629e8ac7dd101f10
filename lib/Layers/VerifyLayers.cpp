//===- VerifyLayers.cpp - Check the border of the phase Layers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Layers/Passes.h"

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace pipewright {
#define GEN_PASS_DEF_VERIFYLAYERS
#include "pipewright/Layers/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct VerifyLayers : pipewright::impl::VerifyLayersBase<VerifyLayers> {
  void runOnOperation() override;
};
} // namespace

static LogicalResult checkName(pp::LayerOp layer,
                               llvm::StringMap<pp::LayerOp> &known) {
  if (layer.getName().empty())
    return layer.emitOpError("has no name");
  auto [entry, isNew] = known.try_emplace(layer.getName(), layer);
  if (isNew)
    return success();
  InFlightDiagnostic diag = layer.emitOpError("is named '")
                            << layer.getName() << "' as an earlier layer";
  diag.attachNote(entry->second.getLoc()) << "the other one is here";
  return diag;
}

static LogicalResult checkKey(pp::LayerOp layer, int64_t index) {
  for (Value argument : layer.getArguments())
    if (auto key = argument.getDefiningOp<pp::RandomKeyOp>())
      if (int64_t(key.getLayer()) != index)
        return layer.emitOpError("'")
               << layer.getName() << "' has index " << index
               << " but draws with the random key of layer " << key.getLayer();
  return success();
}

static LogicalResult checkExchange(pp::ExchangedOp exchanged) {
  if (!exchanged.getOperand().getDefiningOp<pp::LayerOp>())
    return exchanged.emitOpError("exchanges what no layer makes");
  for (Operation *user : exchanged->getUsers())
    if (!isa<pp::LayerOp>(user))
      return exchanged.emitOpError("is used by '")
             << user->getName() << "'; only layers use what is exchanged";
  return success();
}

void VerifyLayers::runOnOperation() {
  pp::ModelOp model = pp::getModel(getOperation());
  if (!model)
    return;
  llvm::StringMap<pp::LayerOp> known;
  int64_t index = 0;
  for (Operation &op : model.getBody().front().without_terminator()) {
    if (isa<pp::RandomKeyOp>(op))
      continue;
    if (auto exchanged = dyn_cast<pp::ExchangedOp>(op)) {
      if (failed(checkExchange(exchanged)))
        return signalPassFailure();
      continue;
    }
    auto layer = dyn_cast<pp::LayerOp>(op);
    if (!layer) {
      op.emitOpError("is in no layer; run '--pp-form-layers' and "
                     "'--pp-outline-layers' first");
      return signalPassFailure();
    }
    if (failed(checkName(layer, known)) || failed(checkKey(layer, index++)))
      return signalPassFailure();
  }
}
