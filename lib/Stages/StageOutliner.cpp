//===- StageOutliner.cpp - Makes the tasks of one stage
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOutliner.h"

using namespace mlir;
using namespace pipewright;
using pp::BindingKind;

StageOutliner::StageOutliner(StagedModel &model, SymbolTable &symbols,
                             int64_t stage, bool splitsBackward)
    : model(model), symbols(symbols), stage(stage),
      stageOp(model.getStages()[stage]), splitsBackward(splitsBackward) {}

void StageOutliner::run() {
  buildForward();
  if (model.isTrained())
    buildBackward();
  for (Parts *parts : {&forward, &backward})
    for (TaskBuilder &part : *parts)
      part.finish(symbols);
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
  if (auto exchange = forwardExchanges.find(value);
      exchange != forwardExchanges.end())
    return exchange->second.received;
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
// Parts and what they exchange
//===----------------------------------------------------------------------===//

void StageOutliner::addPart(Parts &parts) {
  bool isForward = &parts == &forward;
  pp::Role role = isForward        ? pp::Role::F
                  : splitsBackward ? pp::Role::B
                                   : pp::Role::BW;
  StringRef suffix = isForward ? "f" : splitsBackward ? "b" : "bw";
  parts.emplace_back(stageOp, role, suffix, parts.size());
}

void StageOutliner::await(const Exchange &exchange, Parts &parts) {
  if (exchange.part + 1 == parts.size())
    addPart(parts);
}

TaskBuilder &StageOutliner::getOwner(Value value) {
  for (Parts *parts : {&forward, &backward})
    for (TaskBuilder &part : *parts)
      if (part.owns(value))
        return part;
  return *splitWeight;
}

void StageOutliner::yield(Value value, pp::BindingAttr binding) {
  getOwner(value).addResult(value, binding);
}

/// Declares an exchange as \p like of \p value, which one of \p parts makes.
StageOutliner::Exchange
StageOutliner::exchange(pp::ExchangedOp like, Value value, const Parts &parts) {
  OpBuilder builder(stageOp.getContext());
  StringRef direction = model.getDirection() == 0 ? "" : "u";
  std::string name = ("rows." + direction + Twine(stageOp.getIndex()) + "." +
                      Twine(exchanges++))
                         .str();
  auto declared = pp::ExchangeOp::create(
      builder, like.getLoc(), name, stageOp.getSymName(), like.getPeers(),
      cast<RankedTensorType>(value.getType()));
  symbols.insert(declared);
  yield(value, bind(BindingKind::Sent, name));
  size_t part = llvm::find_if(parts,
                              [&](const TaskBuilder &candidate) {
                                return candidate.owns(value);
                              }) -
                parts.begin();
  return {bind(BindingKind::Received, name), part};
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

Value StageOutliner::getForwardValue(Value value) {
  if (pp::BindingAttr binding = findIncoming(value))
    return forward.back().getArgument(binding, value.getType());
  return forwardValues.lookup(value);
}

void StageOutliner::callForward(StagedLayer &layer) {
  for (Value argument : layer.op.getArguments())
    if (auto exchange = forwardExchanges.find(argument);
        exchange != forwardExchanges.end())
      await(exchange->second, forward);
  TaskBuilder &task = forward.back();
  SmallVector<Value> operands;
  for (Value argument : layer.op.getArguments())
    operands.push_back(fetch(argument, task));
  ArrayRef<Type> types = layer.forward.getArgumentTypes();
  for (size_t index = operands.size(); index < types.size(); ++index)
    operands.push_back(task.getArgument(
        bindParameter(BindingKind::Parameter, layer, index), types[index]));
  nn::CallOp call = task.call(layer.op, layer.forward, operands);
  forwardCalls[layer.op] = call;
  for (auto [index, result] : llvm::enumerate(layer.op.getOutputs()))
    forwardValues[result] = call.getResult(index);
}

void StageOutliner::sendForward(pp::ExchangedOp exchanged) {
  Value value = getForwardValue(exchanged.getOperand());
  forwardExchanges[exchanged] = exchange(exchanged, value, forward);
}

/// Outputs and the loss leave from the stage that makes them. Nobody asks for
/// outputs while both directions run.
void StageOutliner::bindModelResults() {
  pp::ReturnOp end = model.getReturn();
  for (auto [name, value] : llvm::zip_equal(
           end.getNames().getAsRange<StringAttr>(), end.getOutputs()))
    if (model.getStage(value) == stage && model.getDirection() == 0)
      yield(getForwardValue(value), bind(BindingKind::Output, name));
  BindingKind kinds[] = {BindingKind::LossSum, BindingKind::LossWeight};
  for (auto [kind, value] : llvm::zip(kinds, end.getLoss()))
    if (model.getStage(value) == stage)
      yield(getForwardValue(value), bind(kind));
}

void StageOutliner::buildForward() {
  addPart(forward);
  for (Operation *op : model.getOps(stage)) {
    if (auto layer = dyn_cast<pp::LayerOp>(op))
      callForward(model.getLayer(layer));
    else
      sendForward(cast<pp::ExchangedOp>(op));
  }
  for (Crossing &crossing : model.getCrossings())
    if (crossing.source == stage)
      yield(getForwardValue(crossing.value),
            bind(BindingKind::Channel, crossing.activation.getSymName()));
  bindModelResults();
}

//===----------------------------------------------------------------------===//
// Values that later tasks read
//===----------------------------------------------------------------------===//

Value StageOutliner::restore(Value value, TaskBuilder &task) {
  if (task.owns(value))
    return value;
  TaskBuilder &maker = getOwner(value);
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
  return restore(forwardValues.lookup(value), task);
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
                   task);
  case nn::ValueRole::Cotangent:
    return restore(getCotangent(layer.op.getResult(index)), task);
  case nn::ValueRole::Pending:
    return restore(backwardCall.getResult(
                       layer.derivative.getInputGradients().size() + index),
                   task);
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
  TaskBuilder &task = backward.back();
  if (auto exchange = gradientExchanges.find(value);
      exchange != gradientExchanges.end())
    return task.getArgument(exchange->second.received, value.getType());
  for (Crossing &crossing : model.getCrossings())
    if (crossing.value == value && crossing.source == stage &&
        crossing.hasGradient)
      return task.getArgument(
          bind(BindingKind::Channel, crossing.gradient.getSymName()),
          value.getType());
  return {};
}

void StageOutliner::addGradient(Value value, Value contribution) {
  TaskBuilder &task = backward.back();
  Value sum = findGradient(value);
  gradients[value] =
      sum ? task.add(restore(sum, task), restore(contribution, task))
          : contribution;
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
    addGradient(value, backward.back().getArgument(bind(BindingKind::LossScale),
                                                   value.getType()));
  finished = findGradient(value);
  if (!finished)
    finished = backward.back().makeZero(value.getType());
  return finished;
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

void StageOutliner::awaitGradient(Value value) {
  if (auto exchange = gradientExchanges.find(value);
      exchange != gradientExchanges.end())
    await(exchange->second, backward);
}

void StageOutliner::callBackward(StagedLayer &layer) {
  for (Value result : layer.op.getOutputs())
    awaitGradient(result);
  TaskBuilder &task = backward.back();
  nn::CallOp call;
  if (layer.backward) {
    SmallVector<Value> operands;
    for (auto operand :
         layer.derivative.getBackwardOperands().getAsRange<nn::OperandAttr>())
      operands.push_back(resolve(layer, operand, task, call));
    call = task.call(layer.op, layer.backward, operands);
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

/// The gradient of what replicas exchange is exchanged too: its own adjoint.
void StageOutliner::sendBackward(pp::ExchangedOp exchanged) {
  Value operand = exchanged.getOperand(), gradient = findGradient(exchanged);
  if (!gradient || !model.wantsGradient(operand))
    return;
  Exchange arriving = exchange(exchanged, gradient, backward);
  if (!findGradient(operand)) {
    gradientExchanges[operand] = arriving;
    return;
  }
  await(arriving, backward);
  addGradient(operand, backward.back().getArgument(arriving.received,
                                                   operand.getType()));
}

void StageOutliner::returnGradients() {
  for (Crossing &crossing : model.getCrossings())
    if (crossing.target == stage && crossing.hasGradient) {
      awaitGradient(crossing.value);
      yield(findGradient(crossing.value),
            bind(BindingKind::Channel, crossing.gradient.getSymName()));
    }
}

void StageOutliner::buildBackward() {
  addPart(backward);
  if (splitsBackward)
    splitWeight.emplace(stageOp, pp::Role::W, "w");
  SmallVector<Operation *> ops = model.getOps(stage);
  for (Operation *op : llvm::reverse(ops)) {
    if (auto layer = dyn_cast<pp::LayerOp>(op))
      callBackward(model.getLayer(layer));
    else
      sendBackward(cast<pp::ExchangedOp>(op));
  }
  returnGradients();
}
