//===- FunctionCost.cpp - Work and time of a function
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FunctionCost.h"

#include "pipewright/Cost/FormulaRegistry.h"

#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace pipewright;

FunctionCost pipewright::priceFunction(nn::FunctionOp function,
                                       const Device &device,
                                       bool contractionsOnly,
                                       double filledRows) {
  FunctionCost cost;
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (contractionsOnly && !op.hasTrait<nn::Contraction>())
      continue;
    std::optional<Work> work = FormulaRegistry::get().evaluate(&op);
    if (!work)
      continue;
    if (isa<nn::ExpertMatMulOp, nn::ExpertOuterOp>(op))
      work->flops = std::llround(work->flops * filledRows);
    cost.work += *work;
    // Views and constants are not started at all.
    if (work->bytesWritten != 0)
      cost.seconds += device.seconds(*work, getFloatKind(&op));
  }
  return cost;
}

/// Whether \p value is there in backward without being kept for it.
static bool isAlwaysThere(Value value) {
  return isa<BlockArgument>(value) || value.getDefiningOp<pp::RandomKeyOp>();
}

int64_t pipewright::getInputBytes(pp::LayerOp layer) {
  llvm::SetVector<Value> inputs;
  inputs.insert_range(layer.getArguments());
  int64_t bytes = 0;
  for (Value input : inputs)
    if (!isAlwaysThere(input))
      bytes += pp::getBytes(input.getType());
  return bytes;
}

/// What \p policy, which is not full, has backward and R read.
static llvm::SetVector<Attribute> findKept(nn::DerivativeOp derivative,
                                           nn::FunctionOp forward,
                                           int64_t results,
                                           pp::RematPolicy policy) {
  llvm::SetVector<Attribute> operands;
  operands.insert_range(derivative.getBackwardOperands());
  operands.insert_range(derivative.getWeightOperands());
  if (policy == pp::RematPolicy::None || !derivative.getRecompute())
    return operands;
  auto recompute = SymbolTable::lookupNearestSymbolFrom<nn::FunctionOp>(
      derivative, derivative.getRecomputeAttr());
  int64_t kept = forward.getResultTypes().size() - results -
                 recompute.getResultTypes().size();
  operands.insert_range(derivative.getRecomputeOperands());
  operands.remove_if([&](Attribute attribute) {
    auto operand = cast<nn::OperandAttr>(attribute);
    return operand.getRole() == nn::ValueRole::Saved &&
           operand.getIndex() >= kept;
  });
  return operands;
}

int64_t pipewright::getKeptBytes(pp::LayerOp layer, nn::DerivativeOp derivative,
                                 nn::FunctionOp forward,
                                 pp::RematPolicy policy) {
  if (policy == pp::RematPolicy::Full)
    return getInputBytes(layer);
  int64_t bytes = 0;
  int64_t results = layer.getNumResults();
  for (Attribute attribute : findKept(derivative, forward, results, policy)) {
    auto operand = cast<nn::OperandAttr>(attribute);
    int64_t index = operand.getIndex();
    if (operand.getRole() == nn::ValueRole::Result)
      bytes += pp::getBytes(layer.getResult(index).getType());
    if (operand.getRole() == nn::ValueRole::Saved)
      bytes += pp::getBytes(forward.getResultTypes()[results + index]);
    if (operand.getRole() == nn::ValueRole::Argument &&
        index < int64_t(layer.getArguments().size()) &&
        !isAlwaysThere(layer.getArguments()[index]))
      bytes += pp::getBytes(layer.getArguments()[index].getType());
  }
  return bytes;
}
