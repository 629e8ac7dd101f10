//===- ModelValues.cpp - What the model computes, by number
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelValues.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pipewright;
using pp::BindingKind;

ModelValues::ModelValues(ModuleOp module, pp::ModelOp model, ValueTable &table)
    : module(module), model(model), table(table), symbols(module) {
  for (auto layer : model.getBody().getOps<pp::LayerOp>())
    layers.push_back({layer, static_cast<int64_t>(layers.size()), {}});
}

LogicalResult ModelValues::run(const Schedule &schedule, bool isTrained) {
  if (isTrained) {
    llvm::DenseMap<Attribute, nn::DerivativeOp> derivatives;
    for (auto derivative : module.getOps<nn::DerivativeOp>())
      derivatives[derivative.getPrimalAttr()] = derivative;
    for (Layer &layer : layers) {
      layer.derivative = derivatives.lookup(layer.op.getCalleeAttr());
      if (!layer.derivative)
        return layer.op.emitOpError("'")
               << layer.op.getName() << "' has no derivative";
    }
  }
  int64_t microbatches = schedule.getMicrobatches() * schedule.getDirections();
  for (microbatch = 0; microbatch < microbatches; ++microbatch) {
    direction = microbatch / schedule.getMicrobatches();
    firstMicrobatch = schedule.getNumberInStep(0, direction);
    values.clear();
    gradients.clear();
    cotangents.clear();
    for (auto [index, argument] :
         llvm::enumerate(model.getBody().getArguments()))
      values[argument] = table.getLeaf(
          bind(BindingKind::Input, model.getInputSpec(index).getName()),
          microbatch);
    for (auto key : model.getBody().getOps<pp::RandomKeyOp>())
      values[key] = table.getLeaf(
          bind(BindingKind::RandomKey, "", key.getLayer()), microbatch);
    runForward(isTrained);
    bindResults();
    if (isTrained)
      runBackward();
  }
  return success();
}

std::optional<int64_t> ModelValues::findPartialSum(int64_t number) const {
  auto found = partialSums.find(number);
  if (found == partialSums.end())
    return std::nullopt;
  return found->second;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

int64_t ModelValues::call(StringRef callee, Attribute name,
                          ArrayRef<int64_t> operands) {
  return table.getResults(name, operands, countResults(callee));
}

void ModelValues::runForward(Layer &layer, bool isTrained) {
  SmallVector<int64_t> operands;
  for (Value argument : layer.op.getArguments())
    operands.push_back(values.lookup(argument));
  size_t count = operands.size() + layer.op.getParameters().size();
  for (size_t index = operands.size(); index < count; ++index)
    operands.push_back(
        table.getLeaf(bindParameter(BindingKind::Parameter, layer, index), 0));
  FlatSymbolRefAttr callee =
      isTrained ? layer.derivative.getForwardAttr() : layer.op.getCalleeAttr();
  layer.forward = call(callee.getValue(), callee, operands);
  for (auto [index, result] : llvm::enumerate(layer.op.getOutputs()))
    values[result] = layer.forward + index;
  if (isTrained)
    knowRecomputed(layer);
}

int64_t ModelValues::countResults(StringRef callee) {
  return symbols.lookup<nn::FunctionOp>(callee).getResultTypes().size();
}

void ModelValues::runForward(bool isTrained) {
  auto *layer = layers.begin();
  for (Operation &op : model.getBody().front()) {
    if (isa<pp::LayerOp>(op))
      runForward(*layer++, isTrained);
    if (auto exchanged = dyn_cast<pp::ExchangedOp>(op))
      values[exchanged] =
          exchange(exchanged, values.lookup(exchanged.getOperand()));
  }
}

int64_t ModelValues::exchange(pp::ExchangedOp exchanged, int64_t number) {
  Attribute operation = ValueTable::identify(
      pp::ExchangedOp::getOperationName(), exchanged.getType());
  return table.getResults(operation, number, /*results=*/1);
}

/// The recompute function makes the last results of the forward again.
void ModelValues::knowRecomputed(Layer &layer) {
  FlatSymbolRefAttr callee = layer.derivative.getRecomputeAttr();
  if (!callee)
    return;
  int64_t first = layer.forward + countResults(layer.derivative.getForward()) -
                  countResults(callee.getValue());
  table.addResults(callee,
                   resolveAll(layer, layer.derivative.getRecomputeOperands()),
                   first);
}

void ModelValues::bindResults() {
  auto end = cast<pp::ReturnOp>(model.getBody().front().back());
  for (auto [name, value] : llvm::zip_equal(
           end.getNames().getAsRange<StringAttr>(), end.getOutputs()))
    if (direction == 0)
      results[{bind(BindingKind::Output, name), microbatch}] =
          values.lookup(value);
  BindingKind kinds[] = {BindingKind::LossSum, BindingKind::LossWeight};
  for (auto [kind, value] : llvm::zip(kinds, end.getLoss()))
    results[{bind(kind), microbatch}] = values.lookup(value);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Contributions are added from the value's last use to its first.
void ModelValues::addGradient(Value value, int64_t contribution) {
  auto [sum, isFirst] = gradients.try_emplace(value, contribution);
  if (isFirst)
    return;
  Attribute add =
      ValueTable::identify(nn::AddOp::getOperationName(), value.getType());
  sum->second = table.getResults(add, {sum->second, contribution}, 1);
}

int64_t ModelValues::makeZero(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  OpBuilder builder(module.getContext());
  auto constant = nn::ConstantOp::create(
      builder, module.getLoc(), tensor,
      DenseElementsAttr::get(tensor,
                             builder.getZeroAttr(tensor.getElementType())));
  int64_t number =
      table.getResults(ValueTable::identify(constant), {}, /*results=*/1);
  constant.erase();
  return number;
}

/// The loss is the sum of the sums of all micro-batches, so the gradient of
/// each is the loss scale, one value for the whole step; a layer's result that
/// nothing uses has a gradient of 0.
int64_t ModelValues::getCotangent(Value value) {
  auto [known, isFirst] = cotangents.try_emplace(value, 0);
  if (!isFirst)
    return known->second;
  auto end = cast<pp::ReturnOp>(model.getBody().front().back());
  if (!end.getLoss().empty() && end.getLoss().front() == value)
    addGradient(value, table.getLeaf(bind(BindingKind::LossScale), 0));
  auto found = gradients.find(value);
  int64_t number =
      found == gradients.end() ? makeZero(value.getType()) : found->second;
  return cotangents[value] = number;
}

int64_t ModelValues::resolve(Layer &layer, nn::OperandAttr operand) {
  int64_t index = operand.getIndex();
  switch (operand.getRole()) {
  case nn::ValueRole::Argument:
    if (index < static_cast<int64_t>(layer.op.getArguments().size()))
      return values.lookup(layer.op.getArguments()[index]);
    return table.getLeaf(bindParameter(BindingKind::Parameter, layer, index),
                         0);
  case nn::ValueRole::Result:
    return layer.forward + index;
  case nn::ValueRole::Saved:
    return layer.forward + layer.op.getNumResults() + index;
  case nn::ValueRole::Cotangent:
    return getCotangent(layer.op.getResult(index));
  case nn::ValueRole::Pending:
    return layer.backward + layer.derivative.getInputGradients().size() + index;
  case nn::ValueRole::Accumulator: {
    pp::BindingAttr gradient =
        bindParameter(BindingKind::Gradient, layer, index);
    auto *found = results.find({gradient, 0});
    return found == results.end() ? table.getLeaf(gradient, 0) : found->second;
  }
  }
  llvm_unreachable("all roles are handled");
}

SmallVector<int64_t> ModelValues::resolveAll(Layer &layer, ArrayAttr operands) {
  SmallVector<int64_t> numbers;
  for (auto operand : operands.getAsRange<nn::OperandAttr>())
    numbers.push_back(resolve(layer, operand));
  return numbers;
}

void ModelValues::runBackward(Layer &layer) {
  nn::DerivativeOp derivative = layer.derivative;
  if (FlatSymbolRefAttr callee = derivative.getBackwardAttr()) {
    layer.backward = call(callee.getValue(), callee,
                          resolveAll(layer, derivative.getBackwardOperands()));
    for (auto [index, argument] :
         llvm::enumerate(derivative.getInputGradients()))
      addGradient(layer.op.getArguments()[argument], layer.backward + index);
  }
  FlatSymbolRefAttr callee = derivative.getWeightAttr();
  if (!callee)
    return;
  int64_t sums = call(callee.getValue(), callee,
                      resolveAll(layer, derivative.getWeightOperands()));
  for (auto [index, argument] :
       llvm::enumerate(derivative.getWeightGradients())) {
    int64_t sum = sums + index;
    results[{bindParameter(BindingKind::Gradient, layer, argument), 0}] = sum;
    partialSums[sum] = microbatch + 1 - firstMicrobatch;
  }
}

/// The gradient of what replicas exchange is exchanged too.
void ModelValues::runBackward() {
  auto layer = layers.rbegin();
  for (Operation &op : llvm::reverse(model.getBody().front())) {
    if (isa<pp::LayerOp>(op))
      runBackward(*layer++);
    if (auto exchanged = dyn_cast<pp::ExchangedOp>(op))
      if (auto known = gradients.find(exchanged); known != gradients.end())
        addGradient(exchanged.getOperand(), exchange(exchanged, known->second));
  }
}

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

pp::BindingAttr ModelValues::bind(BindingKind kind, StringRef name,
                                  int64_t index) {
  return pp::BindingAttr::get(module.getContext(), kind, name, index);
}

pp::BindingAttr ModelValues::bindParameter(BindingKind kind, Layer &layer,
                                           int64_t index) {
  auto name = cast<FlatSymbolRefAttr>(
      layer.op.getParameters()[index - layer.op.getArguments().size()]);
  return bind(kind, name.getValue(),
              kind == BindingKind::Gradient
                  ? layer.index + direction * layers.size()
                  : 0);
}
