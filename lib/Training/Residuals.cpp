//===- Residuals.cpp - What forward keeps for backward
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Adjoint.h"

using namespace mlir;
using namespace pipewright;

/// Ops that are done again rather than saved where their operands are at hand:
/// they move elements or take an instruction or two for each. A SiLU takes
/// more, but is a third of what a gated layer would save.
static bool isCheap(Operation *op) {
  return isa<nn::ConstantOp, nn::DropoutMaskOp, nn::ReshapeOp, nn::TransposeOp,
             nn::BroadcastOp, nn::SliceOp, nn::ReverseOp, nn::PadOp,
             nn::Im2ColOp, nn::ConcatOp, nn::CompareOp, nn::CastOp,
             nn::SelectOp, nn::NotOp, nn::AndOp, nn::OrOp, nn::AddOp, nn::SubOp,
             nn::MulOp, nn::DivOp, nn::MaxOp, nn::MinOp, nn::NegOp, nn::AbsOp,
             nn::SignOp, nn::SiluOp, nn::ReluOp, nn::FloorOp, nn::CeilOp>(op);
}

namespace {
class ResidualChooser {
public:
  explicit ResidualChooser(Adjoint &adjoint);
  llvm::SetVector<Value> run();

private:
  void findNeeded();
  void prefer(Operation *op);
  bool isAtHand(Value value) const;

  Adjoint &adjoint;
  /// Values of the layer function that gradients use.
  DenseSet<Value> needed;
  /// Values that backward has, or can compute cheaply from what it has.
  DenseSet<Value> available;
};
} // namespace

ResidualChooser::ResidualChooser(Adjoint &adjoint) : adjoint(adjoint) {
  available.insert_range(adjoint.getBody().getArguments());
  available.insert_range(adjoint.results);
}

bool ResidualChooser::isAtHand(Value value) const {
  if (available.contains(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isCheap(op) && llvm::all_of(op->getOperands(), [&](Value from) {
           return available.contains(from);
         });
}

/// Collects the values that live gradient ops use, from the gradients back.
void ResidualChooser::findNeeded() {
  SmallVector<Value> worklist(adjoint.inputGradients);
  worklist.append(adjoint.accumulators);
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!value.getDefiningOp() || !seen.insert(value).second)
      continue;
    if (adjoint.isPrimal(value))
      needed.insert(value);
    else
      llvm::append_range(worklist, value.getDefiningOp()->getOperands());
  }
}

/// Replaces the need for a repeated or reshaped value by that for its operand,
/// which is not larger.
void ResidualChooser::prefer(Operation *op) {
  if (!isa<nn::BroadcastOp, nn::ReshapeOp>(op) ||
      available.contains(op->getResult(0)) || !needed.erase(op->getResult(0)))
    return;
  if (op->getOperand(0).getDefiningOp())
    needed.insert(op->getOperand(0));
}

llvm::SetVector<Value> ResidualChooser::run() {
  findNeeded();
  for (Operation &op : llvm::reverse(adjoint.getBody()))
    if (adjoint.primal.contains(&op))
      prefer(&op);

  // Operands come before their users, so each value is decided once; what is
  // not at hand now is not needed unless it is saved.
  llvm::SetVector<Value> saved;
  for (Operation &op : adjoint.getBody()) {
    if (!adjoint.primal.contains(&op))
      continue;
    for (Value result : op.getResults()) {
      if (isAtHand(result)) {
        available.insert(result);
      } else if (needed.contains(result)) {
        saved.insert(result);
        available.insert(result);
      }
    }
  }
  return saved;
}

llvm::SetVector<Value> pipewright::chooseResiduals(Adjoint &adjoint) {
  return ResidualChooser(adjoint).run();
}
