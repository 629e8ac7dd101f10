//===- ApplyRemat.cpp - Recompute instead of keeping
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Remat/Passes.h"

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace pipewright {
#define GEN_PASS_DEF_APPLYREMAT
#include "pipewright/Remat/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct ApplyRemat : pipewright::impl::ApplyRematBase<ApplyRemat> {
  using ApplyRematBase::ApplyRematBase;
  void runOnOperation() override;
};
} // namespace

static bool isSaved(Attribute binding) {
  return cast<pp::BindingAttr>(binding).getKind() == pp::BindingKind::Saved;
}

/// Keeps the results of \p task that are saved values, or those that are not.
static void keepResults(pp::TaskOp task, bool saved) {
  SmallVector<Value> values;
  SmallVector<Attribute> bindings;
  for (auto [value, binding] :
       llvm::zip_equal(task.getYield().getValues(), task.getResultBindings())) {
    if (isSaved(binding) != saved)
      continue;
    values.push_back(value);
    bindings.push_back(binding);
  }
  task.getYield().getValuesMutable().assign(values);
  task.setResultBindingsAttr(ArrayAttr::get(task.getContext(), bindings));
}

/// Drops the ops of \p task that no result needs, then its unused arguments.
static void dropUnused(pp::TaskOp task) {
  Block &body = task.getBody().front();
  SmallVector<Operation *> ops(
      llvm::make_pointer_range(body.without_terminator()));
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  SmallVector<Attribute> bindings;
  for (auto [argument, binding] :
       llvm::zip_equal(body.getArguments(), task.getArgumentBindings()))
    if (!argument.use_empty())
      bindings.push_back(binding);
  task.setArgumentBindingsAttr(ArrayAttr::get(task.getContext(), bindings));
  body.eraseArguments(
      [](BlockArgument argument) { return argument.use_empty(); });
}

static void recompute(pp::TaskOp forward, SymbolTable &symbols) {
  auto task = cast<pp::TaskOp>(forward->clone());
  task.setSymName((forward.getStage() + ".r").str());
  task.setRole(pp::Role::R);
  keepResults(task, /*saved=*/true);
  dropUnused(task);
  keepResults(forward, /*saved=*/false);
  dropUnused(forward);
  OpBuilder builder(forward);
  builder.setInsertionPointAfter(forward);
  builder.insert(task);
  symbols.insert(task);
}

void ApplyRemat::runOnOperation() {
  if (policy == RematPolicy::Full) {
    SymbolTable symbols(getOperation());
    SmallVector<pp::TaskOp> tasks(getOperation().getOps<pp::TaskOp>());
    for (pp::TaskOp task : tasks)
      if (task.getRole() == pp::Role::F &&
          llvm::any_of(task.getResultBindings(), isSaved))
        recompute(task, symbols);
  }
  pp::setPhase(getOperation(), pp::Phase::Remat);
}
