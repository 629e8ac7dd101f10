//===- Recomputation.cpp - Saved values that are cheap to make again
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Recomputation.h"

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace pipewright;

namespace {
class RecomputationFinder {
public:
  RecomputationFinder(nn::FunctionOp forward, unsigned results,
                      unsigned firstParameter)
      : body(forward.getBody().front()), firstParameter(firstParameter),
        saved(body.getTerminator()->getOperands().drop_front(results)) {}

  Recomputation run(const llvm::DenseSet<int64_t> &keptArguments);

private:
  void findActivations();
  bool isScores(Operation *op) const;
  bool isCheap(Operation *op) const;
  void findAvailable();
  bool isMade(Value value) const;
  void findOps();
  bool isWorthwhile(const llvm::DenseSet<int64_t> &keptArguments) const;
  SmallVector<Type> addInputs(Block *block, IRMapping &mapping,
                              Recomputation &recomputation) const;
  void build(Recomputation &recomputation) const;
  bool hasOtherUser(Value value) const;

  Block &body;
  unsigned firstParameter;
  SmallVector<Value> saved;
  /// Values that depend on an argument that is no parameter.
  DenseSet<Value> activations;
  /// Ops whose operands are arguments, kept values, or made by such ops.
  DenseSet<Operation *> cheap;
  /// Those of them that are done again, and the saved values that this makes.
  DenseSet<Operation *> ops;
  DenseSet<Value> roots;
  /// Where the ops begin.
  DenseSet<Value> leaves;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is cheap
//===----------------------------------------------------------------------===//

void RecomputationFinder::findActivations() {
  activations.insert_range(body.getArguments().take_front(firstParameter));
  for (Operation &op : body)
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          return activations.contains(operand);
        }))
      activations.insert_range(op.getResults());
}

/// Whether \p op multiplies activations to what becomes the operand of a
/// softmax: the scores of attention. Those of a router or of a head are a
/// product with a parameter.
bool RecomputationFinder::isScores(Operation *op) const {
  auto product = dyn_cast<nn::MatMulOp>(op);
  if (!product || !activations.contains(product.getLhs()) ||
      !activations.contains(product.getRhs()))
    return false;
  int64_t elements = product.getType().getNumElements();
  SmallVector<Value> worklist = {product.getResult()};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getNumElements() != elements || !seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (isa<nn::SoftmaxOp>(user))
        return true;
      if (!user->hasTrait<nn::Contraction>())
        llvm::append_range(worklist, user->getResults());
    }
  }
  return false;
}

bool RecomputationFinder::isCheap(Operation *op) const {
  return !op->hasTrait<nn::Contraction>() || isScores(op);
}

/// Operands come before their users, so each op is decided once.
void RecomputationFinder::findAvailable() {
  DenseSet<Value> available;
  available.insert_range(body.getArguments());
  for (Operation &op : body.without_terminator()) {
    if (isCheap(&op) && llvm::all_of(op.getOperands(), [&](Value operand) {
          return available.contains(operand);
        })) {
      cheap.insert(&op);
      available.insert_range(op.getResults());
      continue;
    }
    for (Value result : op.getResults())
      if (llvm::is_contained(saved, result))
        available.insert(result);
  }
}

/// Whether a saved value can be made again.
bool RecomputationFinder::isMade(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && cheap.contains(op);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Collects the ops from the saved values that can be made again back to kept
/// ones.
void RecomputationFinder::findOps() {
  for (Value value : saved)
    if (isMade(value))
      roots.insert(value);
  SmallVector<Value> worklist(roots.begin(), roots.end());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!isMade(value))
      leaves.insert(value);
    else if (ops.insert(value.getDefiningOp()).second)
      llvm::append_range(worklist, value.getDefiningOp()->getOperands());
  }
}

bool RecomputationFinder::isWorthwhile(
    const llvm::DenseSet<int64_t> &keptArguments) const {
  int64_t bytes = 0;
  for (Value value : saved)
    if (isMade(value))
      bytes += pp::getBytes(value.getType());
  for (BlockArgument argument : body.getArguments().take_front(firstParameter))
    if (leaves.contains(argument) &&
        !keptArguments.contains(argument.getArgNumber()))
      bytes -= pp::getBytes(argument.getType());
  return bytes > 0;
}

/// Whether the forward has a user of \p value that is not done again.
bool RecomputationFinder::hasOtherUser(Value value) const {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    return !ops.contains(use.getOwner());
  });
}

/// Gives \p block an argument for each leaf, and returns their types.
SmallVector<Type>
RecomputationFinder::addInputs(Block *block, IRMapping &mapping,
                               Recomputation &recomputation) const {
  SmallVector<Type> types;
  auto add = [&](nn::ValueRole role, int64_t index, Value value) {
    if (!leaves.contains(value) || mapping.contains(value))
      return;
    mapping.map(value, block->addArgument(value.getType(), value.getLoc()));
    types.push_back(value.getType());
    recomputation.operands.push_back(
        nn::OperandAttr::get(value.getContext(), role, index));
  };
  for (BlockArgument argument : body.getArguments())
    add(nn::ValueRole::Argument, argument.getArgNumber(), argument);
  for (auto [number, index] : llvm::enumerate(recomputation.order))
    add(nn::ValueRole::Saved, number, saved[index]);
  return types;
}

void RecomputationFinder::build(Recomputation &recomputation) const {
  OpBuilder builder(body.getParentOp()->getContext());
  Location loc = body.getParentOp()->getLoc();
  recomputation.function = nn::FunctionOp::create(
      builder, loc, /*name=*/"r", builder.getFunctionType({}, {}));
  Block *block = builder.createBlock(&recomputation.function.getBody());
  IRMapping mapping;
  SmallVector<Type> inputs = addInputs(block, mapping, recomputation);
  for (Operation &op : body) {
    if (!ops.contains(&op))
      continue;
    builder.clone(op, mapping);
    // What several ops use is not fused into one of them. Where the others are
    // not here, this says that they are there.
    for (Value result : op.getResults())
      if (!roots.contains(result) && hasOtherUser(result))
        nn::KeepOp::create(builder, op.getLoc(), mapping.lookup(result));
  }
  SmallVector<Value> results;
  for (int64_t index : recomputation.order)
    if (isMade(saved[index]))
      results.push_back(mapping.lookup(saved[index]));
  nn::ReturnOp::create(builder, loc, results);
  recomputation.function.setFunctionType(
      builder.getFunctionType(inputs, ValueRange(results).getTypes()));
}

Recomputation
RecomputationFinder::run(const llvm::DenseSet<int64_t> &keptArguments) {
  findActivations();
  findAvailable();
  findOps();
  Recomputation recomputation;
  for (bool made : {false, true})
    for (auto [index, value] : llvm::enumerate(saved))
      if (isMade(value) == made)
        recomputation.order.push_back(index);
  if (isWorthwhile(keptArguments))
    build(recomputation);
  return recomputation;
}

Recomputation
pipewright::findRecomputation(nn::FunctionOp forward, unsigned results,
                              unsigned firstParameter,
                              const llvm::DenseSet<int64_t> &keptArguments) {
  return RecomputationFinder(forward, results, firstParameter)
      .run(keptArguments);
}
