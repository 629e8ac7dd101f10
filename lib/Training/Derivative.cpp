//===- Derivative.cpp - Cuts F, B, W and R out of an adjoint
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Derivative.h"
#include "pipewright/Training/Adjoint.h"
#include "pipewright/Training/Recomputation.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// A function cut out of an adjoint, and what its operands are.
struct Part {
  nn::FunctionOp function;
  SmallVector<nn::OperandAttr> operands;
};

/// The values at which a cut stops, and what they are to the function.
using Leaves = DenseMap<Value, nn::OperandAttr>;
using Inputs = SmallVector<std::pair<nn::OperandAttr, Value>>;

class Cutter {
public:
  Cutter(nn::FunctionOp primal, unsigned firstParameter, Adjoint adjoint)
      : primal(primal), firstParameter(firstParameter),
        adjoint(std::move(adjoint)) {}

  nn::DerivativeOp run();

private:
  nn::OperandAttr operand(nn::ValueRole role, int64_t index) {
    return nn::OperandAttr::get(primal.getContext(), role, index);
  }
  Leaves getBackwardLeaves();
  void findBackwardOps();
  Part cutWeight(const Leaves &backwardLeaves);
  Part cutBackward(const Leaves &leaves, Part &weight);
  nn::FunctionOp copyForward(ArrayRef<Part *> users);
  Part cutRecomputation(nn::FunctionOp forward, ArrayRef<Part *> users);
  Part cut(StringRef suffix, ArrayRef<Value> roots, const Leaves &leaves);
  nn::FunctionOp copyOps(StringRef suffix, const Inputs &inputs,
                         const DenseSet<Operation *> &ops,
                         ArrayRef<Value> roots);
  SmallVector<Value> renumber(nn::ValueRole role, ArrayRef<Part *> parts,
                              ArrayRef<Value> values);

  nn::FunctionOp primal;
  unsigned firstParameter;
  Adjoint adjoint;
  SmallVector<Value> saved;
  /// The gradient ops that input gradients need, and their results.
  DenseSet<Operation *> backwardOps;
  SmallVector<Value> pending;
};
} // namespace

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

/// Moves ops of the layer function that are computed again right before their
/// first use, so that their results live shortly.
static void sinkRecomputed(ArrayRef<Operation *> recomputed) {
  for (Operation *op : llvm::reverse(recomputed)) {
    Operation *first = nullptr;
    for (Operation *user : op->getUsers())
      if (!first || user->isBeforeInBlock(first))
        first = user;
    if (first)
      op->moveBefore(first);
  }
}

/// Copies \p ops into a function that takes \p inputs and returns \p roots.
nn::FunctionOp Cutter::copyOps(StringRef suffix, const Inputs &inputs,
                               const DenseSet<Operation *> &ops,
                               ArrayRef<Value> roots) {
  SmallVector<Type> types;
  for (const auto &[role, value] : inputs)
    types.push_back(value.getType());
  SmallVector<Type> results =
      llvm::map_to_vector(roots, [](Value value) { return value.getType(); });
  std::string name = (primal.getSymName() + suffix).str();
  OpBuilder builder(primal.getContext());
  auto function = nn::FunctionOp::create(
      builder, primal.getLoc(), name, builder.getFunctionType(types, results));

  Block *body = builder.createBlock(&function.getBody());
  IRMapping mapping;
  for (const auto &[role, value] : inputs)
    mapping.map(value, body->addArgument(value.getType(), value.getLoc()));
  SmallVector<Operation *> recomputed;
  for (Operation &op : adjoint.getBody()) {
    if (!ops.contains(&op))
      continue;
    Operation *copy = builder.clone(op, mapping);
    if (adjoint.primal.contains(&op))
      recomputed.push_back(copy);
  }
  SmallVector<Value> returned = llvm::map_to_vector(
      roots, [&](Value value) { return mapping.lookup(value); });
  nn::ReturnOp::create(builder, primal.getLoc(), returned);
  sinkRecomputed(recomputed);
  // A parameter of the model may have this name: the table makes it unique.
  SymbolTable(primal->getParentOp())
      .insert(function, std::next(Block::iterator(primal)));
  return function;
}

/// Erases arguments that simplification left without use.
static void dropUnusedOperands(Part &part) {
  llvm::BitVector unused;
  for (BlockArgument argument : part.function.getArguments())
    unused.push_back(argument.use_empty());
  (void)part.function.eraseArguments(unused);
  unsigned index = 0;
  llvm::erase_if(part.operands,
                 [&](nn::OperandAttr) { return unused.test(index++); });
}

/// Makes a function of the ops that compute \p roots from \p leaves. Its
/// operands are the leaves in use, by role and index.
Part Cutter::cut(StringRef suffix, ArrayRef<Value> roots,
                 const Leaves &leaves) {
  DenseSet<Operation *> ops;
  Inputs inputs;
  DenseSet<Value> seen;
  SmallVector<Value> worklist(roots);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto leaf = leaves.find(value); leaf != leaves.end()) {
      inputs.push_back({leaf->second, value});
      continue;
    }
    assert(value.getDefiningOp() && "an argument that is no leaf");
    if (ops.insert(value.getDefiningOp()).second)
      llvm::append_range(worklist, value.getDefiningOp()->getOperands());
  }
  llvm::sort(inputs, [](const auto &lhs, const auto &rhs) {
    auto key = [](nn::OperandAttr role) {
      return std::pair(static_cast<int>(role.getRole()), role.getIndex());
    };
    return key(lhs.first) < key(rhs.first);
  });

  Part part;
  part.function = copyOps(suffix, inputs, ops, roots);
  part.operands = llvm::map_to_vector(
      inputs, [](const auto &input) { return input.first; });
  simplify(part.function);
  dropUnusedOperands(part);
  return part;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// All that B and W may read: an argument rather than a result, a result
/// rather than an extra saved value.
Leaves Cutter::getBackwardLeaves() {
  Leaves leaves;
  for (auto [argument, role] :
       llvm::zip_equal(adjoint.getBody().getArguments(), adjoint.roles))
    leaves.try_emplace(argument, role);
  for (auto [index, result] : llvm::enumerate(adjoint.results))
    leaves.try_emplace(result, operand(nn::ValueRole::Result, index));
  for (auto [index, value] : llvm::enumerate(saved))
    leaves.try_emplace(value, operand(nn::ValueRole::Saved, index));
  return leaves;
}

void Cutter::findBackwardOps() {
  SmallVector<Value> worklist(adjoint.inputGradients);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (op && !adjoint.primal.contains(op) && backwardOps.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  }
}

/// Whether it costs next to nothing to make the results of \p op again: windows
/// are many times their image.
static bool isMadeAgain(Operation &op) {
  return isa<nn::ConstantOp, nn::ReshapeOp, nn::BroadcastOp, nn::PadOp,
             nn::Im2ColOp, nn::TransposeOp>(op);
}

/// W takes over what B computed, except what it makes again.
Part Cutter::cutWeight(const Leaves &backwardLeaves) {
  findBackwardOps();
  Leaves leaves = backwardLeaves;
  for (Operation &op : adjoint.getBody()) {
    if (!backwardOps.contains(&op) || isMadeAgain(op))
      continue;
    for (Value result : op.getResults()) {
      leaves.try_emplace(result,
                         operand(nn::ValueRole::Pending, pending.size()));
      pending.push_back(result);
    }
  }
  return cut(".w", adjoint.accumulators, leaves);
}

/// Renumbers the operands of \p parts with \p role to those of \p values that
/// are in use, and returns these.
SmallVector<Value> Cutter::renumber(nn::ValueRole role, ArrayRef<Part *> parts,
                                    ArrayRef<Value> values) {
  llvm::BitVector used(values.size());
  for (Part *part : parts)
    for (nn::OperandAttr attr : part->operands)
      if (attr.getRole() == role)
        used.set(attr.getIndex());
  SmallVector<int64_t> number(values.size());
  SmallVector<Value> kept;
  for (unsigned index : used.set_bits()) {
    number[index] = kept.size();
    kept.push_back(values[index]);
  }
  for (Part *part : parts)
    for (nn::OperandAttr &attr : part->operands)
      if (attr.getRole() == role)
        attr = operand(role, number[attr.getIndex()]);
  return kept;
}

/// B returns the input gradients and what W uses of its other results.
Part Cutter::cutBackward(const Leaves &leaves, Part &weight) {
  SmallVector<Value> roots(adjoint.inputGradients);
  llvm::append_range(roots, renumber(nn::ValueRole::Pending, &weight, pending));
  return cut(".b", roots, leaves);
}

/// F is the layer function, of which it keeps the type, and saves what
/// \p users need.
nn::FunctionOp Cutter::copyForward(ArrayRef<Part *> users) {
  SmallVector<Value> roots(adjoint.results);
  llvm::append_range(roots, renumber(nn::ValueRole::Saved, users, saved));
  Inputs inputs;
  for (auto [argument, role] :
       llvm::zip_equal(adjoint.getBody().getArguments(), adjoint.roles))
    if (role.getRole() == nn::ValueRole::Argument)
      inputs.push_back({role, argument});
  nn::FunctionOp forward = copyOps(".f", inputs, adjoint.primal, roots);
  simplify(forward);
  return forward;
}

/// Brings the saved results of \p forward into \p order.
static void orderSaved(nn::FunctionOp forward, unsigned results,
                       ArrayRef<int64_t> order) {
  Operation *exit = forward.getBody().front().getTerminator();
  SmallVector<Value> values(exit->getOperands().take_front(results));
  for (int64_t index : order)
    values.push_back(exit->getOperand(results + index));
  exit->setOperands(values);
  forward.setFunctionType(FunctionType::get(forward.getContext(),
                                            forward.getArgumentTypes(),
                                            exit->getOperandTypes()));
}

/// R makes those saved values that are cheap to make again; they are numbered
/// after the others.
Part Cutter::cutRecomputation(nn::FunctionOp forward, ArrayRef<Part *> users) {
  llvm::DenseSet<int64_t> keptArguments;
  for (Part *part : users)
    for (nn::OperandAttr attr : part->operands)
      if (attr.getRole() == nn::ValueRole::Argument)
        keptArguments.insert(attr.getIndex());
  unsigned results = adjoint.results.size();
  Recomputation recomputation =
      findRecomputation(forward, results, firstParameter, keptArguments);
  if (!recomputation.function)
    return {};
  orderSaved(forward, results, recomputation.order);
  SmallVector<int64_t> number(recomputation.order.size());
  for (auto [position, index] : llvm::enumerate(recomputation.order))
    number[index] = position;
  for (Part *part : users)
    for (nn::OperandAttr &attr : part->operands)
      if (attr.getRole() == nn::ValueRole::Saved)
        attr = operand(nn::ValueRole::Saved, number[attr.getIndex()]);
  recomputation.function.setSymName((primal.getSymName() + ".r").str());
  SymbolTable(primal->getParentOp())
      .insert(recomputation.function, std::next(Block::iterator(forward)));
  return {recomputation.function, std::move(recomputation.operands)};
}

/// W first: it decides what B hands over; both decide what F saves.
nn::DerivativeOp Cutter::run() {
  saved = chooseResiduals(adjoint).takeVector();
  Leaves leaves = getBackwardLeaves();
  Part weight, backward;
  if (!adjoint.accumulators.empty())
    weight = cutWeight(leaves);
  if (!adjoint.inputs.empty())
    backward = cutBackward(leaves, weight);
  nn::FunctionOp forward = copyForward({&backward, &weight});
  Part recompute = cutRecomputation(forward, {&backward, &weight});

  OpBuilder builder(primal.getContext());
  auto name = [](nn::FunctionOp function) {
    return function ? FlatSymbolRefAttr::get(function.getSymNameAttr())
                    : FlatSymbolRefAttr();
  };
  auto operands = [&](const Part &part) {
    return builder.getArrayAttr(
        SmallVector<Attribute>(part.operands.begin(), part.operands.end()));
  };
  Operation *last = forward;
  for (nn::FunctionOp function :
       {recompute.function, backward.function, weight.function})
    last = function ? function : last;
  builder.setInsertionPointAfter(last);
  return nn::DerivativeOp::create(
      builder, primal.getLoc(), name(primal), name(forward),
      name(backward.function), operands(backward),
      builder.getDenseI64ArrayAttr(adjoint.inputs), name(weight.function),
      operands(weight), builder.getDenseI64ArrayAttr(adjoint.parameters),
      name(recompute.function), operands(recompute));
}

FailureOr<nn::DerivativeOp>
pipewright::buildDerivative(nn::FunctionOp function, const Activity &activity) {
  FailureOr<Adjoint> adjoint = buildAdjoint(function, activity);
  if (failed(adjoint))
    return failure();
  return Cutter(function, activity.firstParameter, std::move(*adjoint)).run();
}
