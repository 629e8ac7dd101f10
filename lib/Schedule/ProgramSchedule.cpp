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

namespace {
/// Reads the tasks and the step of one rank's program.
class ProgramReader {
public:
  ProgramReader(const StageGraph &graph, const Schedule &schedule)
      : graph(graph), schedule(schedule) {}

  LogicalResult read(pp::ProgramOp program);

  std::vector<Action> actions;
  /// The op of each action.
  std::vector<Operation *> ops;

private:
  LogicalResult visit(Operation *op, int64_t microbatch);
  FailureOr<Action> makeAction(pp::RunOp run, int64_t microbatch);
  LogicalResult addToPair(pp::RunOp run, const Action &part);
  LogicalResult checkParts(pp::RunOp run);
  LogicalResult checkPair(const Action &pair, Operation *op);
  void add(Action action, Operation *op) {
    actions.push_back(std::move(action));
    ops.push_back(op);
  }

  const StageGraph &graph;
  const Schedule &schedule;
};
} // namespace

LogicalResult ProgramReader::read(pp::ProgramOp program) {
  LogicalResult result = success();
  pp::walkActions(program, [&](Operation *op, int64_t microbatch) {
    if (succeeded(result))
      result = visit(op, microbatch);
  });
  for (auto [action, op] : llvm::zip_equal(actions, ops)) {
    if (failed(result))
      return failure();
    if (action.kind != ActionKind::FB)
      continue;
    // One branch is a role in parts, which overlaps with nothing.
    if (op->getNumRegions() == 1 && action.parts.size() == 1)
      action = Action(action.parts[0]);
    else
      result = checkPair(action, op);
  }
  return result;
}

LogicalResult ProgramReader::visit(Operation *op, int64_t microbatch) {
  if (isa<pp::StepOp>(op))
    add(ActionKind::Step, op);
  if (isa<pp::OverlapOp>(op))
    add(ActionKind::FB, op);
  auto run = dyn_cast<pp::RunOp>(op);
  if (!run)
    return success();
  FailureOr<Action> action = makeAction(run, microbatch);
  if (failed(action) || failed(checkParts(run)))
    return failure();
  if (isa<pp::OverlapOp>(run->getParentOp()))
    return addToPair(run, *action);
  add(*action, run);
  return success();
}

FailureOr<Action> ProgramReader::makeAction(pp::RunOp run, int64_t microbatch) {
  pp::TaskOp task = graph.getTask(run.getSymbol());
  int64_t direction = graph.getDirection(task.getStage());
  int64_t number = microbatch - schedule.getNumberInStep(0, direction);
  if (number < 0 || number >= maxWork)
    return run.emitOpError("is for micro-batch ")
           << microbatch << ", which its direction never has";
  return Action(getActionKind(task.getRole()),
                graph.getStageNumber(task.getStage()), number, direction);
}

/// The run of the same branch before or after \p run, if that has a micro-batch
/// in common with it.
template <typename NextT>
static pp::RunOp findNeighbour(pp::RunOp run, NextT next) {
  Operation *op = next(run.getOperation());
  while (op && !isa<pp::RunOp>(op))
    op = next(op);
  auto found = dyn_cast_or_null<pp::RunOp>(op);
  return found && found.getIndex() == run.getIndex() &&
                 found.getOffset() == run.getOffset()
             ? found
             : pp::RunOp();
}

/// The parts of a role run one after the other in one branch, each followed by
/// the exchanges of what it sends.
LogicalResult ProgramReader::checkParts(pp::RunOp run) {
  pp::TaskOp task = graph.getTask(run.getSymbol());
  int64_t direction = graph.getDirection(task.getStage());
  ArrayRef<pp::TaskOp> parts = graph.getParts(
      graph.getStageNumber(task.getStage()), task.getRole(), direction);
  int64_t part = task.getPart();
  auto isPart = [&](pp::RunOp other, int64_t number) {
    return other && other.getSymbol() == pp::TaskOp(parts[number]).getSymName();
  };
  bool isInOrder =
      (part == 0 ||
       isPart(
           findNeighbour(run, [](Operation *op) { return op->getPrevNode(); }),
           part - 1)) &&
      (part + 1 == static_cast<int64_t>(parts.size()) ||
       isPart(
           findNeighbour(run, [](Operation *op) { return op->getNextNode(); }),
           part + 1));
  if (!isInOrder)
    return run.emitOpError("is part ")
           << part << " of " << parts.size()
           << ", which run one after the other in one 'pp.overlap'";
  Operation *next = run->getNextNode();
  for (StringRef exchange : StageGraph::getExchanges(task)) {
    auto exchanged = dyn_cast_or_null<pp::AllToAllOp>(next);
    if (!exchanged || exchanged.getSymbol() != exchange ||
        exchanged.getIndex() != run.getIndex() ||
        exchanged.getOffset() != run.getOffset())
      return run.emitOpError("makes what '")
             << exchange << "' exchanges, which must follow it";
    next = next->getNextNode();
  }
  if (next && isa<pp::AllToAllOp>(next))
    return next->emitOpError("exchanges what the task before it does not make");
  return success();
}

/// A branch is one part of the pair: a full backward is one even in two tasks.
LogicalResult ProgramReader::addToPair(pp::RunOp run, const Action &part) {
  ActionParts &parts = actions.back().parts;
  if (run->getParentRegion()->getRegionNumber() == parts.size()) {
    parts.push_back(part);
    return success();
  }
  Action inputGradient = part;
  inputGradient.kind = ActionKind::B;
  Action &last = parts.back();
  if (graph.getTask(run.getSymbol()).getPart() > 0 && last == part)
    return success();
  if (part.kind != ActionKind::W || !(last == inputGradient))
    return run.emitOpError("is ")
           << describe(part) << " after " << describe(last)
           << " in one branch; only B with its W is one backward";
  last.kind = ActionKind::BW;
  return success();
}

LogicalResult ProgramReader::checkPair(const Action &pair, Operation *op) {
  const ActionParts &parts = pair.parts;
  if (parts.size() == 2 && parts[0].kind == ActionKind::F &&
      parts[1].isInputGradient())
    return success();
  return op->emitOpError("overlaps ")
         << describe(pair) << "; a pair is one F and then one B or BW";
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
  for (auto [rank, program] : llvm::enumerate(result.programs)) {
    ProgramReader reader(graph, result.schedule);
    if (failed(reader.read(program)))
      return failure();
    result.schedule.setActions(rank, std::move(reader.actions));
    result.ops.push_back(std::move(reader.ops));
  }
  return result;
}

void pipewright::forEachRun(
    Operation *op, const Action &action,
    llvm::function_ref<void(pp::RunOp, const Action &)> function) {
  if (auto run = dyn_cast<pp::RunOp>(op))
    return function(run, action);
  auto overlap = dyn_cast<pp::OverlapOp>(op);
  if (!overlap)
    return;
  for (auto [number, branch] : llvm::enumerate(overlap.getBranches())) {
    const Action &part =
        action.kind == ActionKind::FB ? action.parts[number] : action;
    for (auto run : branch.getOps<pp::RunOp>())
      function(run, part);
  }
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
      if (!action.isCompute())
        continue;
      TaskGraph::Task &task = list.emplace_back();
      task.duration = costs.getDuration(action);
      forEachRun(op, action, [&](pp::RunOp run, const Action &part) {
        pp::TaskOp declared = graph.getTask(run.getSymbol());
        int64_t microbatch =
            schedule.getNumberInStep(part.microbatch, part.direction);
        for (int64_t channel : graph.getReads(declared))
          task.uses.push_back(channel * microbatches + microbatch);
        for (int64_t channel : graph.getWrites(declared))
          task.makes.push_back(channel * microbatches + microbatch);
      });
    }
  }
  return tasks;
}
