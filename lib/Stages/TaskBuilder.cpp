//===- TaskBuilder.cpp - Builds a task binding by binding
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskBuilder.h"

using namespace mlir;
using namespace pipewright;

TaskBuilder::TaskBuilder(pp::StageOp stage, pp::Role role, StringRef suffix,
                         int64_t part)
    : builder(stage.getContext()) {
  std::string name = (stage.getSymName() + "." + suffix).str();
  if (part > 0)
    name += "." + std::to_string(part);
  // Bindings are set when all are known.
  ArrayAttr none = builder.getArrayAttr({});
  task = pp::TaskOp::create(builder, stage.getLoc(), name, role,
                            stage.getSymName(), none, none,
                            /*workspace_bytes=*/IntegerAttr(), part);
  builder.setInsertionPointToEnd(&task.getBody().emplaceBlock());
}

bool TaskBuilder::owns(Value value) const {
  return value.getParentRegion() == &pp::TaskOp(task).getBody();
}

Value TaskBuilder::getArgument(pp::BindingAttr binding, Type type) {
  auto [entry, isNew] = arguments.try_emplace(binding);
  if (isNew) {
    entry->second = task.getBody().addArgument(type, task.getLoc());
    argumentBindings.push_back(binding);
  }
  return entry->second;
}

void TaskBuilder::addResult(Value value, pp::BindingAttr binding) {
  results.push_back(value);
  resultBindings.push_back(binding);
}

nn::CallOp TaskBuilder::call(pp::LayerOp layer, nn::FunctionOp function,
                             ValueRange operands) {
  return nn::CallOp::create(builder, NameLoc::get(layer.getNameAttr()),
                            function.getResultTypes(), function.getSymName(),
                            operands);
}

Value TaskBuilder::add(Value lhs, Value rhs) {
  return nn::AddOp::create(builder, task.getLoc(), lhs, rhs);
}

Value TaskBuilder::makeZero(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Attribute zero = builder.getZeroAttr(tensor.getElementType());
  return nn::ConstantOp::create(builder, task.getLoc(), tensor,
                                DenseElementsAttr::get(tensor, zero));
}

pp::BindingAttr TaskBuilder::findBinding(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  return cast<pp::BindingAttr>(argumentBindings[argument.getArgNumber()]);
}

void TaskBuilder::finish(SymbolTable &symbols) {
  pp::YieldOp::create(builder, task.getLoc(), results);
  task.setArgumentBindingsAttr(builder.getArrayAttr(argumentBindings));
  task.setResultBindingsAttr(builder.getArrayAttr(resultBindings));
  symbols.insert(task);
}
