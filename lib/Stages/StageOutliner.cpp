//===- StageOutliner.cpp - Makes the tasks of one stage
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOutliner.h"

using namespace mlir;
using namespace pipewright;
using pp::BindingKind;

StageOutliner::StageOutliner(StagedModel &model, int64_t stage,
                             bool splitsBackward)
    : model(model), stage(stage), stageOp(model.getStages()[stage]),
      forward(stageOp, pp::Role::F, "f"), splitsBackward(splitsBackward) {}

void StageOutliner::run(SymbolTable &symbols) {
  buildForward();
  if (model.isTrained())
    buildBackward();
  forward.finish(symbols);
  if (backward)
    backward->finish(symbols);
  if (splitWeight)
    splitWeight->finish(symbols);
}

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

pp::BindingAttr StageOutliner::findIncoming(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return bind(
        BindingKind::Input,
        model.getModel().getInputSpec(argument.getArgNumber()).getName());
  if (auto key = value.getDefiningOp<pp::RandomKeyOp>())
    return bind(BindingKind::RandomKey, "", key.getLayer());
  for (Crossing &crossing : model.getCrossings())
    if (crossing.value == value && crossing.target == stage)
      return bind(BindingKind::Channel, crossing.activation.getSymName());
  return {};
}

pp::BindingAttr StageOutliner::bindParameter(BindingKind kind,
                                             StagedLayer &layer,
                                             int64_t argument) {
  auto name = cast<FlatSymbolRefAttr>(
      layer.op.getParameters()[argument - layer.op.getArguments().size()]);
  return bind(kind, name.getValue(),
              kind == BindingKind::Gradient ? layer.index : 0);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

Value StageOutliner::getForwardValue(Value value) {
  if (pp::BindingAttr binding = findIncoming(value))
    return forward.getArgument(binding, value.getType());
  return forwardValues.lookup(value);
}

void StageOutliner::callForward(StagedLayer &layer) {
  SmallVector<Value> operands;
  for (Value argument : layer.op.getArguments())
    operands.push_back(getForwardValue(argument));
  ArrayRef<Type> types = layer.forward.getArgumentTypes();
  for (size_t index = operands.size(); index < types.size(); ++index)
    operands.push_back(forward.getArgument(
        bindParameter(BindingKind::Parameter, layer, index), types[index]));
  nn::CallOp call = forward.call(layer.op, layer.forward, operands);
  forwardCalls[layer.op] = call;
  for (auto [index, result] : llvm::enumerate(layer.op.getOutputs()))
    forwardValues[result] = call.getResult(index);
}

/// Outputs and the loss leave from the stage that makes them. Nobody asks for
/// outputs while both directions run.
void StageOutliner::bindModelResults() {
  pp::ReturnOp end = model.getReturn();
  for (auto [name, value] : llvm::zip_equal(
           end.getNames().getAsRange<StringAttr>(), end.getOutputs()))
    if (model.getStage(value) == stage && model.getDirection() == 0)
      forward.addResult(getForwardValue(value),
                        bind(BindingKind::Output, name));
  BindingKind kinds[] = {BindingKind::LossSum, BindingKind::LossWeight};
  for (auto [kind, value] : llvm::zip(kinds, end.getLoss()))
    if (model.getStage(value) == stage)
      forward.addResult(getForwardValue(value), bind(kind));
}

void StageOutliner::buildForward() {
  for (StagedLayer &layer : model.getLayers(stage))
    callForward(layer);
  for (Crossing &crossing : model.getCrossings())
    if (crossing.source == stage)
      forward.addResult(
          getForwardValue(crossing.value),
          bind(BindingKind::Channel, crossing.activation.getSymName()));
  bindModelResults();
}

//===----------------------------------------------------------------------===//
// Values that backward tasks read
//===----------------------------------------------------------------------===//

Value StageOutliner::restore(Value value, TaskBuilder &maker,
                             TaskBuilder &task) {
  if (&maker == &task)
    return value;
  if (pp::BindingAttr binding = maker.findBinding(value))
    return task.getArgument(binding, value.getType());
  auto [entry, isNew] = savedNumbers.try_emplace(value, savedNumbers.size());
  pp::BindingAttr binding =
      bind(BindingKind::Saved, stageOp.getSymName(), entry->second);
  if (isNew)
    maker.addResult(value, binding);
  return task.getArgument(binding, value.getType());
}

Value StageOutliner::fetch(Value value, TaskBuilder &task) {
  if (pp::BindingAttr binding = findIncoming(value))
    return task.getArgument(binding, value.getType());
  return restore(forwardValues.lookup(value), forward, task);
}

Value StageOutliner::resolve(StagedLayer &layer, nn::OperandAttr operand,
                             TaskBuilder &task, nn::CallOp backwardCall) {
  int64_t index = operand.getIndex();
  int64_t results = layer.op.getNumResults();
  switch (operand.getRole()) {
  case nn::ValueRole::Argument:
    if (index < int64_t(layer.op.getArguments().size()))
      return fetch(layer.op.getArguments()[index], task);
    return task.getArgument(bindParameter(BindingKind::Parameter, layer, index),
                            layer.forward.getArgumentTypes()[index]);
  case nn::ValueRole::Result:
    return fetch(layer.op.getResult(index), task);
  case nn::ValueRole::Saved:
    return restore(forwardCalls.lookup(layer.op).getResult(results + index),
                   forward, task);
  case nn::ValueRole::Cotangent:
    return restore(getCotangent(layer.op.getResult(index)), *backward, task);
  case nn::ValueRole::Pending:
    return restore(backwardCall.getResult(
                       layer.derivative.getInputGradients().size() + index),
                   *backward, task);
  case nn::ValueRole::Accumulator:
    return task.getArgument(bindParameter(BindingKind::Gradient, layer, index),
                            layer.forward.getArgumentTypes()[index]);
  }
  llvm_unreachable("a role that no derivative has");
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

Value StageOutliner::findGradient(Value value) {
  if (Value known = gradients.lookup(value))
    return known;
  for (Crossing &crossing : model.getCrossings())
    if (crossing.value == value && crossing.source == stage &&
        crossing.hasGradient)
      return backward->getArgument(
          bind(BindingKind::Channel, crossing.gradient.getSymName()),
          value.getType());
  return {};
}

void StageOutliner::addGradient(Value value, Value contribution) {
  Value sum = findGradient(value);
  gradients[value] = sum ? backward->add(sum, contribution) : contribution;
}

/// The loss is the sum of the sums of all micro-batches, so the gradient of
/// each is the same, 1 if not for the loss scale; where it is used as a value
/// too, this comes last in every cut.
Value StageOutliner::getCotangent(Value value) {
  Value &finished = finishedGradients[value];
  if (finished)
    return finished;
  OperandRange loss = model.getReturn().getLoss();
  if (!loss.empty() && loss.front() == value)
    addGradient(value, backward->getArgument(bind(BindingKind::LossScale),
                                             value.getType()));
  finished = findGradient(value);
  if (!finished)
    finished = backward->makeZero(value.getType());
  return finished;
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

void StageOutliner::callBackward(StagedLayer &layer) {
  nn::CallOp call;
  if (layer.backward) {
    SmallVector<Value> operands;
    for (auto operand :
         layer.derivative.getBackwardOperands().getAsRange<nn::OperandAttr>())
      operands.push_back(resolve(layer, operand, *backward, call));
    call = backward->call(layer.op, layer.backward, operands);
    for (auto [index, argument] :
         llvm::enumerate(layer.derivative.getInputGradients())) {
      Value value = layer.op.getArguments()[argument];
      if (model.wantsGradient(value))
        addGradient(value, call.getResult(index));
    }
  }
  if (layer.weight)
    callWeight(layer, call);
}

void StageOutliner::callWeight(StagedLayer &layer, nn::CallOp backwardCall) {
  TaskBuilder &task = getWeightTask();
  SmallVector<Value> operands;
  for (auto operand :
       layer.derivative.getWeightOperands().getAsRange<nn::OperandAttr>())
    operands.push_back(resolve(layer, operand, task, backwardCall));
  nn::CallOp call = task.call(layer.op, layer.weight, operands);
  for (auto [index, argument] :
       llvm::enumerate(layer.derivative.getWeightGradients()))
    task.addResult(call.getResult(index),
                   bindParameter(BindingKind::Gradient, layer, argument));
}

void StageOutliner::returnGradients() {
  for (Crossing &crossing : model.getCrossings())
    if (crossing.target == stage && crossing.hasGradient)
      backward->addResult(
          findGradient(crossing.value),
          bind(BindingKind::Channel, crossing.gradient.getSymName()));
}

void StageOutliner::buildBackward() {
  backward.emplace(stageOp, splitsBackward ? pp::Role::B : pp::Role::BW,
                   splitsBackward ? "b" : "bw");
  if (splitsBackward)
    splitWeight.emplace(stageOp, pp::Role::W, "w");
  for (StagedLayer &layer : llvm::reverse(model.getLayers(stage)))
    callBackward(layer);
  returnGradients();
}
