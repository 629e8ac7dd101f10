//===- ProgramSchedule.cpp - Rank programs as a plain schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/ProgramSchedule.h"

using namespace mlir;
using namespace pipewright;

/// The module's programs of \p kind, by rank.
static FailureOr<std::vector<pp::ProgramOp>>
collectPrograms(ModuleOp module, int64_t ranks, pp::ProgramKind kind) {
  std::vector<pp::ProgramOp> programs(ranks);
  for (pp::ProgramOp program : module.getOps<pp::ProgramOp>()) {
    if (program.getKind() != kind)
      continue;
    int64_t rank = program.getRank();
    if (rank < 0 || rank >= ranks)
      return program.emitOpError("is for rank ")
             << rank << "; the stages are on ranks 0 to " << ranks - 1;
    if (programs[rank]) {
      InFlightDiagnostic diag = program.emitOpError("is a second ")
                                << pp::stringifyProgramKind(kind)
                                << " program of rank " << rank;
      diag.attachNote(programs[rank].getLoc()) << "the first one is here";
      return diag;
    }
    programs[rank] = program;
  }
  for (auto [rank, program] : llvm::enumerate(programs))
    if (!program)
      return module.emitError("rank ")
             << rank << " has no " << pp::stringifyProgramKind(kind)
             << " program";
  return programs;
}

/// Adds the tasks and the step of the rank's program.
static LogicalResult readProgram(int64_t rank, const StageGraph &graph,
                                 ProgramSchedule &result) {
  std::vector<Operation *> &ops = result.ops.emplace_back();
  LogicalResult fits = success();
  pp::walkActions(
      result.programs[rank], [&](Operation *op, int64_t microbatch) {
        Action action;
        if (auto run = dyn_cast<pp::RunOp>(op)) {
          pp::TaskOp task = graph.getTask(run.getSymbol());
          int64_t direction = graph.getDirection(task.getStage());
          int64_t number =
              microbatch - result.schedule.getNumberInStep(0, direction);
          if (number < 0 || number >= maxWork)
            fits = op->emitOpError("is for micro-batch ")
                   << microbatch << ", which its direction never has";
          else
            action = {getActionKind(task.getRole()),
                      graph.getStageNumber(task.getStage()), number, direction};
        } else if (isa<pp::StepOp>(op)) {
          action.kind = ActionKind::Step;
        } else {
          return;
        }
        result.schedule.add(rank, action);
        ops.push_back(op);
      });
  return fits;
}

FailureOr<ProgramSchedule> pipewright::readPrograms(ModuleOp module,
                                                    const StageGraph &graph,
                                                    pp::ProgramKind kind) {
  auto schedules = module.getOps<pp::ScheduleOp>();
  if (schedules.empty())
    return module.emitError("the module has no schedule; run "
                            "'--pp-attach-schedule'");
  pp::ScheduleOp schedule = *schedules.begin();
  FailureOr<std::vector<pp::ProgramOp>> programs =
      collectPrograms(module, graph.getRanks(), kind);
  if (failed(programs))
    return failure();
  ScheduleShape shape = {graph.getRanks(),
                         static_cast<int64_t>(schedule.getMicrobatches()),
                         graph.getChunks()};
  Placement placement = graph.getPlacement();
  bool isEval = kind == pp::ProgramKind::Eval;
  if (isEval)
    placement.resize(1);
  ProgramSchedule result = {
      Schedule(shape, std::move(placement)), std::move(*programs), {}};
  result.schedule.setName(schedule.getPolicy());
  if (isEval)
    result.schedule.setForwardOnly();
  for (int64_t rank = 0; rank < graph.getRanks(); ++rank)
    if (failed(readProgram(rank, graph, result)))
      return failure();
  return result;
}

TaskGraph pipewright::buildTaskGraph(const ProgramSchedule &programs,
                                     const StageGraph &graph,
                                     const CostModel &costs) {
  const Schedule &schedule = programs.schedule;
  int64_t microbatches = schedule.getShape().microbatches;
  TaskGraph tasks;
  tasks.values = graph.getChannels().size() * microbatches;
  tasks.latency = costs.latency;
  for (auto [rank, ops] : llvm::enumerate(programs.ops)) {
    std::vector<TaskGraph::Task> &list = tasks.ranks.emplace_back();
    for (auto [op, action] : llvm::zip_equal(ops, schedule.getActions(rank))) {
      auto run = dyn_cast<pp::RunOp>(op);
      if (!run)
        continue;
      TaskGraph::Task &task = list.emplace_back();
      task.duration = costs.getDuration(action);
      pp::TaskOp declared = graph.getTask(run.getSymbol());
      int64_t microbatch =
          schedule.getNumberInStep(action.microbatch, action.direction);
      for (int64_t channel : graph.getReads(declared))
        task.uses.push_back(channel * microbatches + microbatch);
      for (int64_t channel : graph.getWrites(declared))
        task.makes.push_back(channel * microbatches + microbatch);
    }
  }
  return tasks;
}
