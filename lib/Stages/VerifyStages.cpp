//===- VerifyStages.cpp - Check the border of the phase Stages
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Stages/Passes.h"

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace pipewright {
#define GEN_PASS_DEF_VERIFYSTAGES
#include "pipewright/Stages/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct VerifyStages : pipewright::impl::VerifyStagesBase<VerifyStages> {
  void runOnOperation() override;
};
} // namespace

/// Checks that \p stage has index \p index and holds the next layers of
/// \p layers, which it removes.
static LogicalResult checkLayers(pp::StageOp stage, uint64_t index,
                                 uint64_t first,
                                 ArrayRef<pp::LayerOp> &layers) {
  if (stage.getIndex() != index)
    return stage.emitOpError("has index ")
           << stage.getIndex() << " but is the stage number " << index;
  if (stage.getFirstLayer() != first)
    return stage.emitOpError("begins at layer ")
           << stage.getFirstLayer() << " but layer " << first << " is next";
  llvm::SetVector<Attribute> parameters;
  for (auto name : stage.getLayers().getAsRange<StringAttr>()) {
    pp::LayerOp layer = layers.empty() ? pp::LayerOp() : layers.front();
    if (!layer || layer.getNameAttr() != name)
      return stage.emitOpError("holds layer ")
             << name << " where the model has "
             << (layer ? layer.getName() : StringRef("none"));
    parameters.insert_range(layer.getParameters());
    layers = layers.drop_front();
  }
  if (stage.getParameters().getValue() != parameters.getArrayRef())
    return stage.emitOpError("lists other parameters than its layers use");
  return success();
}

static LogicalResult checkForwardTask(pp::StageOp stage, ModuleOp module) {
  int64_t count =
      llvm::count_if(module.getOps<pp::TaskOp>(), [&](pp::TaskOp task) {
        return task.getStage() == stage.getSymName() &&
               task.getRole() == pp::Role::F && task.getPart() == 0;
      });
  if (count != 1)
    return stage.emitOpError("has ") << count << " F tasks instead of one";
  return success();
}

/// Checks the stages of \p direction, if there are any.
static LogicalResult checkDirection(ModuleOp module, pp::ModelOp model,
                                    uint64_t direction) {
  SmallVector<pp::LayerOp> all(model.getBody().getOps<pp::LayerOp>());
  ArrayRef<pp::LayerOp> layers = all;
  uint64_t index = 0;
  for (auto stage : module.getOps<pp::StageOp>()) {
    if (stage.getDirection() != direction)
      continue;
    uint64_t first = direction * all.size() + all.size() - layers.size();
    if (failed(checkLayers(stage, index++, first, layers)) ||
        failed(checkForwardTask(stage, module)))
      return failure();
  }
  if (layers.empty() || (index == 0 && direction != 0))
    return success();
  pp::LayerOp layer = layers.front();
  layer.emitOpError("'") << layer.getName() << "' is in no stage";
  return failure();
}

void VerifyStages::runOnOperation() {
  pp::ModelOp model = pp::getModel(getOperation());
  if (!model)
    return;
  for (uint64_t direction : {0, 1})
    if (failed(checkDirection(getOperation(), model, direction)))
      return signalPassFailure();
}
