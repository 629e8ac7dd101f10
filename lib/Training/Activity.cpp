//===- Activity.cpp - Where gradients flow
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Activity.h"
#include "pipewright/Training/Gradients.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace pipewright;

bool pipewright::hasGradient(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

bool pipewright::isDifferentiable(OpOperand &operand) {
  return hasGradient(operand.get().getType()) &&
         GradientRegistry::get().hasRule(operand);
}

llvm::BitVector Activity::getParameters() const {
  llvm::BitVector parameters = arguments;
  parameters.reset(0, firstParameter);
  return parameters;
}

/// For each result of \p function, the arguments on which it depends through
/// differentiable operands.
static SmallVector<llvm::BitVector> findDependence(nn::FunctionOp function) {
  Block &body = function.getBody().front();
  llvm::BitVector none(body.getNumArguments());
  DenseMap<Value, llvm::BitVector> dependence;
  for (BlockArgument argument : body.getArguments()) {
    dependence[argument] = none;
    if (hasGradient(argument.getType()))
      dependence[argument].set(argument.getArgNumber());
  }
  for (Operation &op : body.without_terminator()) {
    llvm::BitVector arguments = none;
    for (OpOperand &operand : op.getOpOperands())
      if (isDifferentiable(operand))
        arguments |= dependence[operand.get()];
    for (Value result : op.getResults())
      dependence[result] = hasGradient(result.getType()) ? arguments : none;
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value result) { return dependence[result]; });
}

namespace {
/// One sweep forwards over the layers finds the values that depend on a
/// trainable parameter, one backwards those on which the loss depends.
class ActivityFinder {
public:
  explicit ActivityFinder(pp::ModelOp model)
      : model(model), symbols(model->getParentOfType<ModuleOp>()) {}

  llvm::MapVector<pp::LayerOp, Activity> run();
  DenseSet<Value> findVaried();

private:
  const SmallVector<llvm::BitVector> &getDependence(pp::LayerOp layer);
  llvm::BitVector findVaried(pp::LayerOp layer);
  Activity findUseful(pp::LayerOp layer);

  pp::ModelOp model;
  SymbolTable symbols;
  DenseMap<StringAttr, SmallVector<llvm::BitVector>> dependence;
  /// Values of the model that depend on a trainable parameter.
  DenseSet<Value> varied;
  /// Values of the model on which the loss depends.
  DenseSet<Value> useful;
  /// The arguments of each layer that depend on a trainable parameter.
  DenseMap<Operation *, llvm::BitVector> variedArguments;
};
} // namespace

const SmallVector<llvm::BitVector> &
ActivityFinder::getDependence(pp::LayerOp layer) {
  StringAttr callee = layer.getCalleeAttr().getAttr();
  auto [entry, isNew] = dependence.try_emplace(callee);
  if (isNew)
    entry->second = findDependence(symbols.lookup<nn::FunctionOp>(callee));
  return entry->second;
}

/// Marks the results of \p layer that depend on a trainable parameter; returns
/// the arguments that do, or are one.
llvm::BitVector ActivityFinder::findVaried(pp::LayerOp layer) {
  unsigned inputs = layer.getArguments().size();
  llvm::BitVector arguments(inputs + layer.getParameters().size());
  for (auto [index, argument] : llvm::enumerate(layer.getArguments()))
    if (varied.contains(argument))
      arguments.set(index);
  for (auto [index, name] :
       llvm::enumerate(layer.getParameters().getAsRange<FlatSymbolRefAttr>()))
    if (symbols.lookup<pp::ParameterOp>(name.getAttr()).getTrainable())
      arguments.set(inputs + index);

  for (auto [result, needed] :
       llvm::zip_equal(layer.getOutputs(), getDependence(layer)))
    if (needed.anyCommon(arguments))
      varied.insert(result);
  return arguments;
}

/// The activity of \p layer, all users of its results being visited.
Activity ActivityFinder::findUseful(pp::LayerOp layer) {
  const llvm::BitVector &arguments = variedArguments[layer];
  Activity activity(layer.getArguments().size(), arguments.size(),
                    layer->getNumResults());
  for (auto [index, result] : llvm::enumerate(layer.getOutputs())) {
    if (!varied.contains(result) || !useful.contains(result))
      continue;
    activity.results.set(index);
    activity.arguments |= getDependence(layer)[index];
  }
  activity.arguments &= arguments;
  for (auto [index, argument] : llvm::enumerate(layer.getArguments()))
    if (activity.arguments.test(index))
      useful.insert(argument);
  return activity;
}

DenseSet<Value> ActivityFinder::findVaried() {
  for (Operation &op : model.getBody().front()) {
    if (auto layer = dyn_cast<pp::LayerOp>(op))
      variedArguments[layer] = findVaried(layer);
    if (auto exchanged = dyn_cast<pp::ExchangedOp>(op))
      if (varied.contains(exchanged.getOperand()))
        varied.insert(exchanged);
  }
  return varied;
}

llvm::MapVector<pp::LayerOp, Activity> ActivityFinder::run() {
  findVaried();

  auto exit = cast<pp::ReturnOp>(model.getBody().front().getTerminator());
  if (!exit.getLoss().empty())
    useful.insert(exit.getLoss().front());
  DenseMap<Operation *, Activity> found;
  for (Operation &op : llvm::reverse(model.getBody().front())) {
    if (auto layer = dyn_cast<pp::LayerOp>(op))
      found[layer] = findUseful(layer);
    if (auto exchanged = dyn_cast<pp::ExchangedOp>(op))
      if (useful.contains(exchanged))
        useful.insert(exchanged.getOperand());
  }

  llvm::MapVector<pp::LayerOp, Activity> activity;
  for (auto layer : model.getOps<pp::LayerOp>())
    activity.insert({layer, found[layer]});
  return activity;
}

llvm::MapVector<pp::LayerOp, Activity>
pipewright::findActivity(pp::ModelOp model) {
  return ActivityFinder(model).run();
}

DenseSet<Value> pipewright::findTrainedValues(pp::ModelOp model) {
  return ActivityFinder(model).findVaried();
}
