//===- StagedModel.cpp - What crosses between stages
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagedModel.h"

using namespace mlir;
using namespace pipewright;

std::optional<unsigned> StagedLayer::findInputGradient(unsigned argument) {
  if (!backward)
    return std::nullopt;
  ArrayRef<int64_t> gradients = derivative.getInputGradients();
  auto *found = llvm::find(gradients, argument);
  if (found == gradients.end())
    return std::nullopt;
  return found - gradients.begin();
}

FailureOr<StagedModel> StagedModel::get(ModuleOp module, SymbolTable &symbols,
                                        uint64_t direction) {
  StagedModel staged;
  staged.model = pp::getModel(module);
  for (pp::StageOp stage : module.getOps<pp::StageOp>())
    if (stage.getDirection() == direction)
      staged.stages.push_back(stage);
  if (!staged.model || staged.stages.empty())
    return module.emitError("has no model or no stages; run "
                            "'--pp-balance-stages' first"),
           failure();
  if (failed(staged.assignLayers(symbols)) || failed(staged.checkExchanges()) ||
      failed(staged.findRoles(module, symbols)))
    return failure();
  if (staged.trained)
    staged.findWantedGradients(symbols);
  for (StagedLayer &layer : staged.layers)
    for (Value result : layer.op.getOutputs())
      staged.findCrossings(result, layer.stage);
  return staged;
}

LogicalResult StagedModel::assignLayers(SymbolTable &symbols) {
  auto ops = model.getBody().getOps<pp::LayerOp>();
  int64_t first = getDirection() * llvm::range_size(ops);
  for (pp::LayerOp layer : ops) {
    int64_t index = first + layers.size();
    int64_t stage = -1;
    for (auto [number, op] : llvm::enumerate(stages))
      if (int64_t(op.getFirstLayer()) <= index)
        stage = number;
    if (stage < 0)
      return layer.emitOpError("'")
             << layer.getName() << "' comes before the first stage";
    numbers[layer] = layers.size();
    layers.push_back({layer, index, stage, /*derivative=*/{},
                      symbols.lookup<nn::FunctionOp>(layer.getCallee()),
                      /*backward=*/{}, /*weight=*/{}});
  }
  for (auto [number, stage] : llvm::enumerate(stages))
    if (getLayers(number).size() != stage.getLayers().size())
      return stage.emitOpError("lists ")
             << stage.getLayers().size() << " layers but "
             << getLayers(number).size()
             << " lie between its first and that of the next stage";
  return success();
}

/// What replicas exchange does not cross from stage to stage on the way.
LogicalResult StagedModel::checkExchanges() {
  for (auto exchanged : model.getBody().getOps<pp::ExchangedOp>())
    for (Operation *user : exchanged->getUsers()) {
      auto layer = dyn_cast<pp::LayerOp>(user);
      if (!layer)
        return exchanged.emitOpError("is used by '")
               << user->getName() << "' instead of a layer";
      if (layers[numbers.lookup(layer)].stage !=
          getStage(exchanged.getOperand()))
        return layer.emitOpError("'")
               << layer.getName() << "' must be in one stage with the layer "
               << "whose rows it gets from other replicas";
    }
  return success();
}

/// The value of which \p value is what replicas have exchanged.
static Value getUnexchanged(Value value) {
  while (auto exchanged = value.getDefiningOp<pp::ExchangedOp>())
    value = exchanged.getOperand();
  return value;
}

bool StagedModel::wantsGradient(Value value) const {
  return wanted.contains(getUnexchanged(value));
}

MutableArrayRef<StagedLayer> StagedModel::getLayers(int64_t stage) {
  auto *begin = llvm::find_if(
      layers, [&](const StagedLayer &layer) { return layer.stage == stage; });
  auto *end = std::find_if(begin, layers.end(), [&](const StagedLayer &layer) {
    return layer.stage != stage;
  });
  return {begin, end};
}

SmallVector<Operation *> StagedModel::getOps(int64_t stage) {
  SmallVector<Operation *> ops;
  for (Operation &op : model.getBody().front())
    if (isa<pp::LayerOp, pp::ExchangedOp>(op) &&
        getStage(op.getResult(0)) == stage)
      ops.push_back(&op);
  return ops;
}

LogicalResult StagedModel::findRoles(ModuleOp module, SymbolTable &symbols) {
  llvm::DenseMap<Attribute, nn::DerivativeOp> derivatives;
  for (auto derivative : module.getOps<nn::DerivativeOp>())
    derivatives[derivative.getPrimalAttr()] = derivative;
  trained = !derivatives.empty();
  for (StagedLayer &layer : layers) {
    if (!trained)
      continue;
    layer.derivative = derivatives.lookup(layer.op.getCalleeAttr());
    if (!layer.derivative)
      return layer.op.emitOpError("'")
             << layer.op.getName()
             << "' has no derivative, but other layers have; run "
                "'--nn-differentiate' first";
    layer.forward =
        symbols.lookup<nn::FunctionOp>(layer.derivative.getForward());
    if (auto weight = layer.derivative.getWeight())
      layer.weight = symbols.lookup<nn::FunctionOp>(*weight);
  }
  return success();
}

/// Whether \p operands name any value of \p role.
static bool usesRole(ArrayAttr operands, nn::ValueRole role) {
  return llvm::any_of(
      operands.getAsRange<nn::OperandAttr>(),
      [&](nn::OperandAttr operand) { return operand.getRole() == role; });
}

/// A layer runs B if W takes something from it, or if the layer that makes one
/// of its arguments wants the gradient; it wants the cotangents that its B and
/// W read. Arguments come from earlier layers, so one walk suffices.
void StagedModel::findWantedGradients(SymbolTable &symbols) {
  for (StagedLayer &layer : layers) {
    nn::DerivativeOp derivative = layer.derivative;
    bool runsBackward = layer.weight && usesRole(derivative.getWeightOperands(),
                                                 nn::ValueRole::Pending);
    for (int64_t argument : derivative.getInputGradients())
      runsBackward |= wantsGradient(layer.op.getArguments()[argument]);
    if (runsBackward && derivative.getBackward())
      layer.backward =
          symbols.lookup<nn::FunctionOp>(*derivative.getBackward());

    auto addCotangents = [&](ArrayAttr operands) {
      for (auto operand : operands.getAsRange<nn::OperandAttr>())
        if (operand.getRole() == nn::ValueRole::Cotangent)
          wanted.insert(layer.op.getResult(operand.getIndex()));
    };
    if (layer.backward)
      addCotangents(derivative.getBackwardOperands());
    if (layer.weight)
      addCotangents(derivative.getWeightOperands());
  }
}

int64_t StagedModel::getStage(Value value) const {
  auto known = numbers.find(getUnexchanged(value).getDefiningOp());
  return known == numbers.end() ? stages.size() - 1
                                : layers[known->second].stage;
}

/// Passes \p value on from stage to stage. Which stages send a gradient back
/// depends on all later ones, so it is known from the last to the first.
void StagedModel::findCrossings(Value value, int64_t source) {
  llvm::SmallVector<bool> uses(stages.size(), false),
      gives(stages.size(), false);
  for (OpOperand &use : value.getUses()) {
    auto known = numbers.find(use.getOwner());
    if (known == numbers.end())
      continue;
    StagedLayer &user = layers[known->second];
    uses[user.stage] = true;
    if (user.findInputGradient(use.getOperandNumber()))
      gives[user.stage] = true;
  }
  for (int64_t stage = int64_t(stages.size()) - 2; stage >= 0; --stage)
    gives[stage] = gives[stage] || gives[stage + 1];
  for (int64_t stage = source + 1; stage < int64_t(stages.size()); ++stage) {
    if (!uses[stage])
      continue;
    crossings.push_back({value, source, stage,
                         wantsGradient(value) && gives[stage],
                         /*activation=*/{}, /*gradient=*/{}});
    source = stage;
  }
}
