//===- TaskPlan.cpp - Where the values of a task lie
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaskPlan.h"

#include "pipewright/Program/Arena.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace pipewright;

/// The pointer of the binding in which \p value is to be made, if it is
/// yielded. The memory of an argument is not free before the task ends.
static std::optional<unsigned>
findResultPointer(pp::TaskOp task, Value value,
                  const TaskSignature &signature) {
  for (OpOperand &use : value.getUses()) {
    if (!isa<pp::YieldOp>(use.getOwner()))
      continue;
    pp::BindingAttr binding = task.getResultBinding(use.getOperandNumber());
    if (!llvm::is_contained(task.getArgumentBindings(), binding))
      return signature.indexOf(binding);
  }
  return std::nullopt;
}

void TaskPlan::placeResults(pp::TaskOp task, nn::CallOp call,
                            const LayerSignature &callee) {
  for (auto [result, shared] :
       llvm::zip_equal(call.getOutputs(), callee.sharedArguments)) {
    if (!shared) {
      if (std::optional<unsigned> pointer =
              findResultPointer(task, result, signature))
        places[result] = {*pointer, 0};
      else
        temporaries.push_back({result});
      continue;
    }
    Value operand = call.getArguments()[*shared];
    auto *temporary = llvm::find_if(temporaries, [&](const auto &values) {
      return llvm::is_contained(values, operand);
    });
    if (temporary == temporaries.end())
      places[result] = places.lookup(operand);
    else
      temporary->push_back(result);
  }
}

void TaskPlan::placeInWorkspace(
    pp::TaskOp task, const llvm::StringMap<int64_t> &layerWorkspaces) {
  DenseMap<Operation *, int64_t> steps;
  for (auto [step, op] : llvm::enumerate(task.getBody().front()))
    steps[&op] = step;

  SmallVector<ArenaBuffer> buffers;
  for (ArrayRef<Value> values : temporaries) {
    ArenaBuffer &buffer = buffers.emplace_back();
    buffer.bytes = pp::getBytes(values.front().getType());
    buffer.lifetime.include(steps.lookup(values.front().getDefiningOp()));
    for (Value value : values)
      for (Operation *user : value.getUsers())
        buffer.lifetime.include(steps.lookup(user));
  }
  auto calls = llvm::to_vector(task.getBody().getOps<nn::CallOp>());
  for (nn::CallOp call : calls) {
    int64_t step = steps.lookup(call);
    buffers.push_back({layerWorkspaces.lookup(call.getCallee()), {step, step}});
  }
  Packing plan = packBuffers(buffers);
  ArrayRef<int64_t> offsets = plan.offsets;
  for (auto [values, offset] : llvm::zip(temporaries, offsets))
    for (Value value : values)
      places[value] = {signature.getWorkspaceIndex(), offset};
  for (auto [call, offset] :
       llvm::zip_equal(calls, offsets.drop_front(temporaries.size())))
    callees[call] = {signature.getWorkspaceIndex(), offset};
  workspaceBytes = plan.bytes;
}

FailureOr<TaskPlan>
TaskPlan::compute(pp::TaskOp task,
                  const llvm::StringMap<int64_t> &layerWorkspaces) {
  TaskPlan plan(task);
  for (BlockArgument argument : task.getBody().getArguments())
    plan.places[argument] = {plan.signature.indexOf(task.getArgumentBinding(
                                 argument.getArgNumber())),
                             0};
  for (Operation &op : task.getBody().front().without_terminator()) {
    auto call = dyn_cast<nn::CallOp>(op);
    if (!call)
      return op.emitOpError("is in the body of task '")
             << task.getSymName()
             << "', which may only call; run '--pp-outline-task-ops' first";
    auto callee = SymbolTable::lookupNearestSymbolFrom<nn::FunctionOp>(
        call, call.getCalleeAttr());
    plan.placeResults(task, call, LayerSignature(callee));
  }
  plan.placeInWorkspace(task, layerWorkspaces);
  return plan;
}
