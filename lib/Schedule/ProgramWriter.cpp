//===- ProgramWriter.cpp - A schedule as rank programs
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/ProgramSchedule.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// Writes the program of one rank, action by action.
class ProgramWriter {
public:
  ProgramWriter(const StageGraph &graph, const Schedule &schedule,
                pp::ProgramOp program)
      : graph(graph), schedule(schedule), program(program),
        builder(OpBuilder::atBlockEnd(&program.getBody().front())) {}

  LogicalResult write(const Action &action);
  void writeStep() { pp::StepOp::create(builder, program.getLoc()); }

private:
  LogicalResult writeBackward(const Action &action);
  /// Runs the stage's task for \p role, if it has one.
  void run(const Action &action, pp::Role role);
  pp::TaskOp getTask(const Action &action, pp::Role role) const {
    return graph.getTask(action.stage, role, action.direction);
  }

  const StageGraph &graph;
  const Schedule &schedule;
  pp::ProgramOp program;
  OpBuilder builder;
  /// Channel and micro-batch of what the rank has received.
  llvm::DenseSet<std::pair<int64_t, int64_t>> received;
};

} // namespace

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
  bool hasFull = bool(getTask(action, pp::Role::BW));
  bool isFull = action.kind == ActionKind::BW;
  if (hasFull && !isFull)
    return getTask(action, pp::Role::BW)
        .emitOpError("is a full backward where the schedule has B and W "
                     "apart; split the backward of the stages");
  // What F did not keep is needed by the first backward task.
  bool isFirst = action.kind != ActionKind::W || !getTask(action, pp::Role::B);
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
  pp::TaskOp task = getTask(action, role);
  if (!task)
    return;
  int64_t microbatch =
      schedule.getNumberInStep(action.microbatch, action.direction);
  Location loc = task.getLoc();
  auto name = [&](int64_t channel) {
    return pp::ChannelOp(graph.getChannels()[channel]).getSymName();
  };
  for (int64_t channel : graph.getReads(task))
    if (graph.crossesRanks(channel) &&
        received.insert({channel, microbatch}).second)
      pp::RecvOp::create(builder, loc, name(channel), microbatch);
  pp::RunOp::create(builder, loc, task.getSymName(), microbatch);
  for (int64_t channel : graph.getWrites(task))
    if (graph.crossesRanks(channel))
      pp::SendOp::create(builder, loc, name(channel), microbatch);
}

LogicalResult pipewright::writePrograms(ModuleOp module,
                                        const StageGraph &graph,
                                        const Schedule &schedule,
                                        pp::ProgramKind kind) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    auto program = pp::ProgramOp::create(builder, module.getLoc(), kind, rank);
    program.getBody().emplaceBlock();
    ProgramWriter writer(graph, schedule, program);
    for (const Action &action : schedule.getActions(rank))
      if (failed(writer.write(action)))
        return failure();
    if (kind == pp::ProgramKind::Step)
      writer.writeStep();
  }
  return success();
}
