//===- TaskSignature.cpp - The pointers of tasks and layers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/TaskSignature.h"

using namespace mlir;
using namespace pipewright;

TaskSignature::TaskSignature(pp::TaskOp task) {
  auto add = [&](Attribute attribute) {
    auto binding = cast<pp::BindingAttr>(attribute);
    if (!llvm::is_contained(bindings, binding))
      bindings.push_back(binding);
  };
  llvm::for_each(task.getArgumentBindings(), add);
  llvm::for_each(task.getResultBindings(), add);
  bindings.push_back(task.getWorkspaceBinding());
}

unsigned TaskSignature::indexOf(pp::BindingAttr binding) const {
  const auto *position = llvm::find(bindings, binding);
  assert(position != bindings.end() && "not a binding of this task");
  return position - bindings.begin();
}

/// The accumulator argument that \p value is a sum onto, or none. Each partial
/// sum must have no other use, since the next one overwrites it.
static std::optional<unsigned> findAccumulator(Value value) {
  bool summed = false;
  while (auto accumulate = value.getDefiningOp<nn::AccumulateOp>()) {
    if (!value.hasOneUse())
      return std::nullopt;
    value = accumulate.getAccumulator();
    summed = true;
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!summed || !argument || !argument.hasOneUse())
    return std::nullopt;
  return argument.getArgNumber();
}

LayerSignature::LayerSignature(nn::FunctionOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  for (Value result : terminator->getOperands())
    sharedArguments.push_back(findAccumulator(result));
}

std::string pipewright::getLayerSymbol(StringRef name) {
  return ("layer." + name).str();
}

std::string pipewright::getTaskSymbol(StringRef name) {
  return ("task." + name).str();
}
