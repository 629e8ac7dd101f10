//===- AttachSchedule.cpp - Writes each rank's program
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Formats.h"
#include "pipewright/Schedule/Passes.h"
#include "pipewright/Schedule/ScheduleRegistry.h"
#include "pipewright/Schedule/StageGraph.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MemoryBuffer.h"

namespace pipewright {
#define GEN_PASS_DEF_ATTACHSCHEDULE
#include "pipewright/Schedule/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
/// Writes the program of one rank, action by action.
class ProgramWriter {
public:
  ProgramWriter(const StageGraph &graph, pp::ProgramOp program)
      : graph(graph), program(program),
        builder(OpBuilder::atBlockEnd(&program.getBody().front())) {}

  LogicalResult write(const Action &action);
  void writeStep() { pp::StepOp::create(builder, program.getLoc()); }

private:
  LogicalResult writeBackward(const Action &action);
  /// Runs the stage's task for \p role, if it has one.
  void run(const Action &action, pp::Role role);

  const StageGraph &graph;
  pp::ProgramOp program;
  OpBuilder builder;
  /// Channel and micro-batch of what the rank has received.
  llvm::DenseSet<std::pair<int64_t, int64_t>> received;
};

struct AttachSchedule
    : public pipewright::impl::AttachScheduleBase<AttachSchedule> {
  using AttachScheduleBase::AttachScheduleBase;

  void runOnOperation() override;

private:
  FailureOr<Schedule> makeSchedule(const StageGraph &graph);
  llvm::Expected<Schedule> readFile();
  LogicalResult checkPlacement(const StageGraph &graph,
                               const Schedule &schedule);
  LogicalResult writePrograms(const StageGraph &graph, const Schedule &schedule,
                              pp::ProgramKind kind);
};
} // namespace

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

LogicalResult ProgramWriter::write(const Action &action) {
  switch (action.kind) {
  case ActionKind::F:
    run(action, pp::Role::F);
    return success();
  case ActionKind::B:
  case ActionKind::BW:
  case ActionKind::W:
    return writeBackward(action);
  case ActionKind::FB:
    return failure(failed(write(action.parts[0])) ||
                   failed(write(action.parts[1])));
  default:
    // Transfers follow from the tasks' channels, R from the stage's tasks.
    return success();
  }
}

LogicalResult ProgramWriter::writeBackward(const Action &action) {
  bool hasFull = bool(graph.getTask(action.stage, pp::Role::BW));
  bool isFull = action.kind == ActionKind::BW;
  if (hasFull && !isFull)
    return graph.getTask(action.stage, pp::Role::BW)
        .emitOpError("is a full backward where the schedule has B and W "
                     "apart; split the backward of the stages");
  // What F did not keep is needed by the first backward task.
  bool isFirst =
      action.kind != ActionKind::W || !graph.getTask(action.stage, pp::Role::B);
  if (isFirst)
    run(action, pp::Role::R);
  run(action, pp::Role::BW);
  if (action.kind != ActionKind::W)
    run(action, pp::Role::B);
  if (action.kind != ActionKind::B)
    run(action, pp::Role::W);
  return success();
}

void ProgramWriter::run(const Action &action, pp::Role role) {
  pp::TaskOp task = graph.getTask(action.stage, role);
  if (!task)
    return;
  Location loc = task.getLoc();
  auto name = [&](int64_t channel) {
    return pp::ChannelOp(graph.getChannels()[channel]).getSymName();
  };
  for (int64_t channel : graph.getReads(task))
    if (graph.crossesRanks(channel) &&
        received.insert({channel, action.microbatch}).second)
      pp::RecvOp::create(builder, loc, name(channel), action.microbatch);
  pp::RunOp::create(builder, loc, task.getSymName(), action.microbatch);
  for (int64_t channel : graph.getWrites(task))
    if (graph.crossesRanks(channel))
      pp::SendOp::create(builder, loc, name(channel), action.microbatch);
}

LogicalResult AttachSchedule::writePrograms(const StageGraph &graph,
                                            const Schedule &schedule,
                                            pp::ProgramKind kind) {
  ModuleOp module = getOperation();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    auto program = pp::ProgramOp::create(builder, module.getLoc(), kind, rank);
    program.getBody().emplaceBlock();
    ProgramWriter writer(graph, program);
    for (const Action &action : schedule.getActions(rank))
      if (failed(writer.write(action)))
        return failure();
    if (kind == pp::ProgramKind::Step)
      writer.writeStep();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

llvm::Expected<Schedule> AttachSchedule::readFile() {
  auto buffer = llvm::MemoryBuffer::getFile(schedule);
  if (std::error_code code = buffer.getError())
    return llvm::createStringError("'" + schedule + "': " + code.message());
  llvm::Expected<Schedule> parsed = parseScheduleCsv((*buffer)->getBuffer());
  if (!parsed)
    return llvm::createStringError("'" + schedule +
                                   "': " + toString(parsed.takeError()));
  int64_t found = parsed->getShape().microbatches;
  if (found != microbatches)
    return llvm::createStringError("'" + schedule + "' has " + Twine(found) +
                                   " micro-batches, not " +
                                   Twine(microbatches.getValue()));
  return parsed;
}

FailureOr<Schedule> AttachSchedule::makeSchedule(const StageGraph &graph) {
  ScheduleShape shape = {graph.getRanks(), microbatches, graph.getChunks()};
  llvm::Expected<Schedule> built = StringRef(schedule).ends_with(".csv")
                                       ? readFile()
                                       : buildSchedule(schedule, shape);
  if (!built)
    return getOperation().emitError() << toString(built.takeError());
  if (failed(checkPlacement(graph, *built)))
    return failure();
  return std::move(*built);
}

/// The stages must be on the ranks for which the schedule was made.
LogicalResult AttachSchedule::checkPlacement(const StageGraph &graph,
                                             const Schedule &made) {
  if (made.getStages() != graph.getStages())
    return getOperation().emitError("schedule '")
           << made.getName() << "' has " << made.getStages()
           << " stages; the module has " << graph.getStages();
  for (int64_t stage = 0; stage < graph.getStages(); ++stage)
    if (graph.getRank(stage) != made.getRank(stage))
      return graph.getStage(stage).emitOpError("is on rank ")
             << graph.getRank(stage) << "; schedule '" << made.getName()
             << "' has stage " << stage << " on rank " << made.getRank(stage);
  return success();
}

void AttachSchedule::runOnOperation() {
  ModuleOp module = getOperation();
  if (microbatches < 1) {
    module.emitError("there must be at least 1 micro-batch, not ")
        << microbatches.getValue();
    return signalPassFailure();
  }
  FailureOr<StageGraph> graph = StageGraph::get(module);
  if (failed(graph))
    return signalPassFailure();
  for (int64_t stage = 0; stage < graph->getStages(); ++stage)
    if (!graph->getTask(stage, pp::Role::F)) {
      graph->getStage(stage).emitOpError("has no forward task");
      return signalPassFailure();
    }

  ScheduleShape shape = {graph->getRanks(), microbatches, graph->getChunks()};
  Schedule eval = buildForwardOnly(shape, {graph->getPlacement()});
  StringRef policy = eval.getName();
  FailureOr<Schedule> step = failure();
  if (graph->hasBackward()) {
    step = makeSchedule(*graph);
    if (failed(step))
      return signalPassFailure();
    policy = step->getName();
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  pp::ScheduleOp::create(builder, module.getLoc(), policy, shape.ranks,
                         shape.microbatches, shape.chunks);
  if (succeeded(step) &&
      failed(writePrograms(*graph, *step, pp::ProgramKind::Step)))
    return signalPassFailure();
  if (failed(writePrograms(*graph, eval, pp::ProgramKind::Eval)))
    return signalPassFailure();
  pp::setPhase(module, pp::Phase::Schedule);
}
