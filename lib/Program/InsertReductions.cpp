//===- InsertReductions.cpp - Sums of gradients over replicas
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Program/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace pipewright {
#define GEN_PASS_DEF_INSERTREDUCTIONS
#include "pipewright/Program/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct InsertReductions
    : public pipewright::impl::InsertReductionsBase<InsertReductions> {
  void runOnOperation() override;

private:
  void findGradients();
  void rewrite(pp::ProgramOp program);

  /// Per task, the parameters whose gradients it alone adds to, in the order of
  /// the model.
  llvm::StringMap<SmallVector<Attribute>> gradients;
};
} // namespace

void InsertReductions::findGradients() {
  llvm::StringMap<StringRef> makers;
  for (auto task : getOperation().getOps<pp::TaskOp>())
    for (auto binding : task.getResultBindings().getAsRange<pp::BindingAttr>())
      if (binding.getKind() == pp::BindingKind::Gradient)
        makers[binding.getName()] = task.getSymName();
  for (auto update : getOperation().getOps<pp::UpdateOp>())
    if (auto maker = makers.find(update.getParameter());
        update.getLayers().size() == 1 && maker != makers.end())
      gradients[maker->second].push_back(update.getParameterAttr());
}

void InsertReductions::rewrite(pp::ProgramOp program) {
  llvm::MapVector<StringRef, Operation *> lastRuns;
  program.walk([&](pp::RunOp run) {
    Operation *action = run;
    if (isa<pp::OverlapOp>(run->getParentOp()))
      action = run->getParentOp();
    if (gradients.contains(run.getSymbol()))
      lastRuns[run.getSymbol()] = action;
  });
  for (auto [task, last] : lastRuns) {
    OpBuilder builder(program->getContext());
    builder.setInsertionPointAfter(last);
    pp::AllReduceOp::create(builder, last->getLoc(),
                            builder.getArrayAttr(gradients[task]));
  }
}

void InsertReductions::runOnOperation() {
  bool hasReplicas = llvm::any_of(
      getOperation().getOps<pp::ScheduleOp>(),
      [](pp::ScheduleOp schedule) { return schedule.getReplicas() > 1; });
  if (!hasReplicas)
    return;
  findGradients();
  for (auto program : getOperation().getOps<pp::ProgramOp>())
    if (program.getKind() == pp::ProgramKind::Step)
      rewrite(program);
}
