//===- FrequencyTables.cpp - Parameters that no framework trains
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FrequencyTables.h"

#include "pipewright/Dialect/NN/NN.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pipewright;

/// The values that are the same for all weights and all floating-point data:
/// constants and positions, which are integers, and what is made of them.
static DenseSet<Value> findPositions(Block &body) {
  DenseSet<Value> positions;
  for (BlockArgument argument : body.getArguments())
    if (!isa<FloatType>(getElementTypeOrSelf(argument)))
      positions.insert(argument);
  for (Operation &op : body) {
    bool isPosition = !isa<pp::GetParameterOp, pp::RandomKeyOp>(op) &&
                      llvm::all_of(op.getOperands(), [&](Value operand) {
                        return positions.contains(operand);
                      });
    if (isPosition)
      positions.insert(op.result_begin(), op.result_end());
  }
  return positions;
}

/// Whether all that is computed from \p table and \p positions alone ends in
/// sines and cosines.
static bool isFrequencyTable(Value table, const DenseSet<Value> &positions) {
  llvm::SetVector<Value> angles;
  angles.insert(table);
  bool hasWave = false;
  for (size_t i = 0; i < angles.size(); ++i) {
    for (Operation *user : angles[i].getUsers()) {
      if (isa<nn::SinOp, nn::CosOp>(user)) {
        hasWave = true;
        continue;
      }
      bool isAngle = llvm::all_of(user->getOperands(), [&](Value operand) {
        return angles.contains(operand) || positions.contains(operand);
      });
      if (!isAngle || user->hasTrait<OpTrait::IsTerminator>())
        return false;
      angles.insert(user->result_begin(), user->result_end());
    }
  }
  return hasWave;
}

void pipewright::freezeFrequencyTables(pp::ModelOp model) {
  Block &body = model.getBody().front();
  DenseSet<Value> positions = findPositions(body);
  SymbolTable symbols(model->getParentOp());
  for (auto get : body.getOps<pp::GetParameterOp>()) {
    auto parameter = symbols.lookup<pp::ParameterOp>(get.getParameter());
    if (!parameter.getTrainable() || !isFrequencyTable(get, positions))
      continue;
    parameter.setTrainable(false);
    emitRemark(UnknownLoc::get(model.getContext()))
        << "initializer '" << parameter.getSymName()
        << "' holds the frequencies of positions; it is not trained";
  }
}
