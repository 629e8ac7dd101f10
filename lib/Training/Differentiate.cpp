//===- Differentiate.cpp - F, B and W functions of all layers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Training/Activity.h"
#include "pipewright/Training/Derivative.h"
#include "pipewright/Training/Passes.h"
#include "pipewright/Training/WeightGradients.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

namespace pipewright {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "pipewright/Training/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
/// Layers that call one function and train the same parameters of it.
struct SharedFunction {
  nn::FunctionOp function;
  SmallVector<pp::LayerOp> layers;
  /// What any of the layers needs.
  Activity activity;
};

struct Differentiate : pipewright::impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override;

private:
  LogicalResult checkModel(pp::ModelOp model);
  LogicalResult narrow(StringRef option, StringRef pattern, bool trainMatches);
  SmallVector<SharedFunction> groupLayers(pp::ModelOp model);
  void nameFunctions(MutableArrayRef<SharedFunction> groups);
  LogicalResult keepTrained(pp::ModelOp model);
};
} // namespace

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Keeps those trainable parameters trainable whose name matches (or does not
/// match) \p pattern.
LogicalResult Differentiate::narrow(StringRef option, StringRef pattern,
                                    bool trainMatches) {
  if (pattern.empty())
    return success();
  llvm::Regex regex(pattern);
  std::string error;
  if (!regex.isValid(error))
    return getOperation().emitError()
           << "option '" << option << "': '" << pattern
           << "' is not a regular expression: " << error;
  bool matchesAny = false;
  for (auto parameter : getOperation().getOps<pp::ParameterOp>()) {
    if (!parameter.getTrainable())
      continue;
    bool matches = regex.match(parameter.getSymName());
    matchesAny |= matches;
    parameter.setTrainable(matches == trainMatches);
  }
  if (matchesAny)
    return success();
  return getOperation().emitError() << "option '" << option << "': '" << pattern
                                    << "' matches no trainable parameter";
}

/// Parameters without a gradient in any layer are not trainable, which nobody
/// may have meant.
LogicalResult Differentiate::keepTrained(pp::ModelOp model) {
  auto layers = findWeightGradients(getOperation());
  if (layers.empty())
    return model.emitOpError(
        "has no trainable parameter that the loss depends on");
  for (auto parameter : getOperation().getOps<pp::ParameterOp>()) {
    if (!parameter.getTrainable() || layers.contains(parameter.getSymName()))
      continue;
    parameter.setTrainable(false);
    emitWarning(UnknownLoc::get(&getContext()))
        << "parameter '" << parameter.getSymName()
        << "' is not trained: no gradient of the loss reaches it";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Groups layers by what decides their derivative: the function, the
/// parameters that are trained, and whether the loss depends on the layer.
SmallVector<SharedFunction> Differentiate::groupLayers(pp::ModelOp model) {
  SymbolTable symbols(getOperation());
  SmallVector<SharedFunction> groups;
  for (auto &[layer, activity] : findActivity(model)) {
    auto function = symbols.lookup<nn::FunctionOp>(layer.getCallee());
    auto *group = llvm::find_if(groups, [&, &activity = activity](auto &group) {
      return group.function == function &&
             group.activity.getParameters() == activity.getParameters() &&
             group.activity.isActive() == activity.isActive();
    });
    if (group == groups.end()) {
      groups.push_back({function, {layer}, activity});
      continue;
    }
    group->layers.push_back(layer);
    group->activity.arguments |= activity.arguments;
    group->activity.results |= activity.results;
  }
  return groups;
}

/// Gives each group but the first of a function a copy of it.
void Differentiate::nameFunctions(MutableArrayRef<SharedFunction> groups) {
  SymbolTable symbols(getOperation());
  DenseSet<Operation *> taken;
  for (SharedFunction &group : groups) {
    if (taken.insert(group.function).second)
      continue;
    Operation *original = group.function;
    group.function = group.function.clone();
    symbols.insert(group.function, ++Block::iterator(original));
    for (pp::LayerOp layer : group.layers)
      layer.setCallee(group.function.getSymName());
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult Differentiate::checkModel(pp::ModelOp model) {
  if (!model)
    return getOperation().emitError("has no 'pp.model' to differentiate");
  auto exit = cast<pp::ReturnOp>(model.getBody().front().getTerminator());
  if (exit.getLoss().empty())
    return model.emitOpError("has no loss; run '--nn-attach-loss' first");
  for (auto layer : model.getOps<pp::LayerOp>()) {
    llvm::StringSet<> names;
    for (auto name : layer.getParameters().getAsRange<FlatSymbolRefAttr>())
      if (!names.insert(name.getValue()).second)
        return layer.emitOpError("lists parameter '")
               << name.getValue() << "' twice";
  }
  return success();
}

void Differentiate::runOnOperation() {
  pp::ModelOp model = pp::getModel(getOperation());
  if (failed(checkModel(model)) ||
      failed(narrow("train", train, /*trainMatches=*/true)) ||
      failed(narrow("freeze", freeze, /*trainMatches=*/false)))
    return signalPassFailure();

  SmallVector<SharedFunction> groups = groupLayers(model);
  nameFunctions(groups);
  for (SharedFunction &group : groups)
    if (failed(buildDerivative(group.function, group.activity)))
      return signalPassFailure();
  if (failed(keepTrained(model)))
    signalPassFailure();
}
