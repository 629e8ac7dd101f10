//===- CheckGradients.cpp - Proves that updates see every gradient
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Passes.h"
#include "pipewright/Schedule/ProgramSchedule.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace pipewright {
#define GEN_PASS_DEF_CHECKGRADIENTS
#include "pipewright/Schedule/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
class GradientChecker {
public:
  GradientChecker(ModuleOp module, const StageGraph &graph,
                  const ProgramSchedule &programs)
      : module(module), graph(graph), programs(programs) {}

  LogicalResult run();

private:
  /// One layer's gradient for a parameter.
  using Contribution = std::pair<StringRef, int64_t>;

  void collectTasks();
  void checkUpdate(pp::UpdateOp update);
  void checkParameters();
  void checkTasks();
  void checkRuns(int64_t rank);
  void checkStep(int64_t rank);
  void checkReductions(int64_t rank);
  void checkReduction(pp::AllReduceOp reduce,
                      llvm::StringMap<Operation *> &reduced);
  bool isMadeOn(pp::TaskOp task, int64_t rank) const;

  InFlightDiagnostic report(Operation *op) {
    hasFailed = true;
    return op->emitError() << getName(Rule::S7) << ": ";
  }

  ModuleOp module;
  const StageGraph &graph;
  const ProgramSchedule &programs;
  llvm::MapVector<Contribution, pp::TaskOp> tasks;
  llvm::DenseMap<Contribution, pp::UpdateOp> updates;
  llvm::StringMap<pp::UpdateOp> updateOfParameter;
  bool hasFailed = false;
};
} // namespace

LogicalResult GradientChecker::run() {
  collectTasks();
  for (pp::UpdateOp update : module.getOps<pp::UpdateOp>())
    checkUpdate(update);
  checkParameters();
  checkTasks();
  for (int64_t rank = 0; rank < graph.getRanks(); ++rank) {
    checkStep(rank);
    checkRuns(rank);
    checkReductions(rank);
  }
  return failure(hasFailed);
}

//===----------------------------------------------------------------------===//
// Updates and tasks agree
//===----------------------------------------------------------------------===//

void GradientChecker::collectTasks() {
  for (pp::TaskOp task : module.getOps<pp::TaskOp>())
    for (auto binding :
         task.getResultBindings().getAsRange<pp::BindingAttr>()) {
      if (binding.getKind() != pp::BindingKind::Gradient)
        continue;
      Contribution contribution = {binding.getName(), binding.getIndex()};
      auto [known, isFirst] = tasks.insert({contribution, task});
      if (isFirst)
        continue;
      report(task)
              .append("adds to the gradient of '", binding.getName(),
                      "' from layer ", binding.getIndex(),
                      " beside another task")
              .attachNote(known->second.getLoc())
          << "which is here";
    }
}

void GradientChecker::checkUpdate(pp::UpdateOp update) {
  StringRef parameter = update.getParameter();
  auto [known, isFirst] = updateOfParameter.try_emplace(parameter, update);
  if (!isFirst) {
    report(update)
            .append("parameter '", parameter, "' is updated twice")
            .attachNote(known->second.getLoc())
        << "the first update is here";
    return;
  }
  for (int64_t layer : update.getLayers()) {
    updates[{parameter, layer}] = update;
    if (!tasks.contains({parameter, layer}))
      report(update) << "no task makes the gradient of '" << parameter
                     << "' from layer " << layer;
  }
}

void GradientChecker::checkParameters() {
  for (pp::ParameterOp parameter : module.getOps<pp::ParameterOp>())
    if (parameter.getTrainable() &&
        !updateOfParameter.count(parameter.getSymName()))
      report(parameter) << "trainable parameter '" << parameter.getSymName()
                        << "' has no update; run '--nn-attach-optimizer'";
}

void GradientChecker::checkTasks() {
  for (auto &[contribution, task] : tasks)
    if (!updates.count(contribution))
      report(task) << "makes the gradient of '" << contribution.first
                   << "' from layer " << contribution.second
                   << ", which no update uses";
}

//===----------------------------------------------------------------------===//
// Programs run what updates need
//===----------------------------------------------------------------------===//

/// One step, and nothing after it.
void GradientChecker::checkStep(int64_t rank) {
  pp::ProgramOp program = programs.programs[rank];
  Operation *step = nullptr;
  Operation *after = nullptr;
  pp::walkActions(program, [&](Operation *op, int64_t) {
    if (step && !after)
      after = op;
    if (isa<pp::StepOp>(op))
      step = op;
  });
  if (!step)
    report(program) << "rank " << rank << " never updates its parameters; end "
                    << "its program with 'pp.step'";
  else if (after)
    report(after) << "rank " << rank << " goes on after 'pp.step', which must "
                  << "be its last action";
}

bool GradientChecker::isMadeOn(pp::TaskOp task, int64_t rank) const {
  int64_t direction = graph.getDirection(task.getStage());
  return graph.getRank(graph.getStageNumber(task.getStage()), direction) ==
         rank;
}

/// Each task that makes a gradient runs for each micro-batch before the step.
void GradientChecker::checkRuns(int64_t rank) {
  int64_t microbatches = programs.schedule.getMicrobatches();
  llvm::DenseSet<std::pair<Operation *, int64_t>> done;
  Operation *step = nullptr;
  pp::walkActions(programs.programs[rank],
                  [&](Operation *op, int64_t microbatch) {
                    if (isa<pp::StepOp>(op))
                      step = op;
                    auto run = dyn_cast<pp::RunOp>(op);
                    if (run && !step)
                      done.insert({graph.getTask(run.getSymbol()), microbatch});
                  });
  if (!step)
    return;
  for (auto &[contribution, task] : tasks) {
    if (!isMadeOn(task, rank))
      continue;
    int64_t direction = graph.getDirection(task.getStage());
    int64_t first = programs.schedule.getNumberInStep(0, direction);
    for (int64_t mb = first; mb < first + microbatches; ++mb)
      if (!done.contains({task, mb})) {
        report(step) << "rank " << rank << " updates '" << contribution.first
                     << "' without micro-batch " << mb << " of task '"
                     << task.getSymName() << "'; run it before 'pp.step'";
        break;
      }
  }
}

void GradientChecker::checkReduction(pp::AllReduceOp reduce,
                                     llvm::StringMap<Operation *> &reduced) {
  for (auto name : reduce.getParameters().getAsRange<FlatSymbolRefAttr>()) {
    StringRef parameter = name.getValue();
    if (!reduced.try_emplace(parameter, reduce).second)
      report(reduce) << "adds the gradient of '" << parameter
                     << "' over the replicas again";
    pp::UpdateOp update = updateOfParameter.lookup(parameter);
    if (update && update.getLayers().size() > 1)
      report(reduce) << "adds one gradient of '" << parameter
                     << "' over the replicas; 'pp.step' adds those of its "
                     << "layers, and then these";
  }
}

/// With several replicas, the gradient of each parameter of one layer is added
/// over them once, when it is complete.
void GradientChecker::checkReductions(int64_t rank) {
  llvm::StringMap<Operation *> reduced;
  pp::walkActions(programs.programs[rank], [&](Operation *op, int64_t) {
    if (auto reduce = dyn_cast<pp::AllReduceOp>(op))
      checkReduction(reduce, reduced);
    auto run = dyn_cast<pp::RunOp>(op);
    if (!run || reduced.empty())
      return;
    for (auto &[contribution, task] : tasks)
      if (task.getSymName() == run.getSymbol() &&
          reduced.contains(contribution.first))
        report(run) << "adds to the gradient of '" << contribution.first
                    << "' after it was added over the replicas";
  });
  int64_t replicas = 1;
  for (auto schedule : module.getOps<pp::ScheduleOp>())
    replicas = schedule.getReplicas();
  if (replicas == 1)
    return;
  for (auto &[contribution, task] : tasks) {
    pp::UpdateOp update = updateOfParameter.lookup(contribution.first);
    if (isMadeOn(task, rank) && update && update.getLayers().size() == 1 &&
        !reduced.contains(contribution.first))
      report(programs.programs[rank])
          << "rank " << rank << " never adds the gradient of '"
          << contribution.first << "' over the " << replicas
          << " replicas; run '--pp-insert-reductions'";
  }
}

namespace {
struct CheckGradients
    : public pipewright::impl::CheckGradientsBase<CheckGradients> {
  void runOnOperation() override {
    FailureOr<StageGraph> graph = StageGraph::get(getOperation());
    if (failed(graph))
      return signalPassFailure();
    // An inference pipeline has no gradients.
    if (!graph->hasBackward())
      return;
    FailureOr<ProgramSchedule> programs =
        readPrograms(getOperation(), *graph, pp::ProgramKind::Step);
    if (failed(programs) ||
        failed(GradientChecker(getOperation(), *graph, *programs).run()))
      signalPassFailure();
  }
};
} // namespace
