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
  /// Tasks that run one after the other for one micro-batch of the step.
  struct Branch {
    SmallVector<pp::TaskOp, 3> tasks;
    int64_t microbatch;
  };

  /// Fails if the stage's tasks are not those of \p action.
  FailureOr<Branch> getBranch(const Action &action) const;
  void writePair(Branch forward, Branch backward);
  /// Runs the branch's tasks, with the messages of each right beside it.
  void writeBranch(const Branch &branch);
  void receive(pp::TaskOp task, int64_t microbatch);
  void send(pp::TaskOp task, int64_t microbatch);
  StringRef getChannelName(int64_t channel) const {
    return pp::ChannelOp(graph.getChannels()[channel]).getSymName();
  }
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

/// The roles of the tasks that \p action runs where the stage has them.
static SmallVector<pp::Role, 4> getRoles(const Action &action,
                                         bool hasInputGradient) {
  switch (action.kind) {
  case ActionKind::F:
    return {pp::Role::F};
  // What F did not keep is needed by the first backward task.
  case ActionKind::BW:
    return {pp::Role::R, pp::Role::BW, pp::Role::B, pp::Role::W};
  case ActionKind::B:
    return {pp::Role::R, pp::Role::B};
  case ActionKind::W:
    if (hasInputGradient)
      return {pp::Role::W};
    return {pp::Role::R, pp::Role::W};
  default:
    // Transfers follow from the tasks' channels, R from the stage's tasks.
    return {};
  }
}

FailureOr<ProgramWriter::Branch>
ProgramWriter::getBranch(const Action &action) const {
  pp::TaskOp full = getTask(action, pp::Role::BW);
  if (full && (action.kind == ActionKind::B || action.kind == ActionKind::W))
    return full.emitOpError("is a full backward where the schedule has B and W "
                            "apart; split the backward of the stages");
  Branch branch;
  branch.microbatch =
      schedule.getNumberInStep(action.microbatch, action.direction);
  bool hasInputGradient(getTask(action, pp::Role::B));
  for (pp::Role role : getRoles(action, hasInputGradient))
    if (pp::TaskOp task = getTask(action, role))
      branch.tasks.push_back(task);
  return branch;
}

LogicalResult ProgramWriter::write(const Action &action) {
  SmallVector<Branch, 2> branches;
  bool fits = true;
  forEachPart(action, [&](const Action &part) {
    FailureOr<Branch> branch = getBranch(part);
    fits &= succeeded(branch);
    if (fits)
      branches.push_back(std::move(*branch));
  });
  if (!fits)
    return failure();
  if (action.kind == ActionKind::FB)
    writePair(std::move(branches[0]), std::move(branches[1]));
  else
    for (const Branch &branch : branches)
      writeBranch(branch);
  return success();
}

/// What both parts need comes before them, and what they make leaves after
/// them.
void ProgramWriter::writePair(Branch forward, Branch backward) {
  // Recomputation is not part of the pair.
  if (!backward.tasks.empty() &&
      backward.tasks.front().getRole() == pp::Role::R) {
    writeBranch({{backward.tasks.front()}, backward.microbatch});
    backward.tasks.erase(backward.tasks.begin());
  }
  // A stage may lack the tasks that would overlap.
  if (forward.tasks.empty() || backward.tasks.empty() ||
      backward.tasks.front().getRole() == pp::Role::W) {
    writeBranch(forward);
    return writeBranch(backward);
  }
  Branch *branches[] = {&forward, &backward};
  for (const Branch *branch : branches)
    for (pp::TaskOp task : branch->tasks)
      receive(task, branch->microbatch);
  auto overlap =
      pp::OverlapOp::create(builder, forward.tasks.front().getLoc(), 2);
  for (auto [branch, region] : llvm::zip_equal(branches, overlap.getBranches()))
    for (pp::TaskOp task : branch->tasks) {
      OpBuilder inside = OpBuilder::atBlockEnd(&region.front());
      pp::RunOp::create(inside, task.getLoc(), task.getSymName(),
                        branch->microbatch);
    }
  for (const Branch *branch : branches)
    for (pp::TaskOp task : branch->tasks)
      send(task, branch->microbatch);
}

void ProgramWriter::writeBranch(const Branch &branch) {
  for (pp::TaskOp task : branch.tasks) {
    receive(task, branch.microbatch);
    pp::RunOp::create(builder, task.getLoc(), task.getSymName(),
                      branch.microbatch);
    send(task, branch.microbatch);
  }
}

void ProgramWriter::receive(pp::TaskOp task, int64_t microbatch) {
  for (int64_t channel : graph.getReads(task))
    if (graph.crossesRanks(channel) &&
        received.insert({channel, microbatch}).second)
      pp::RecvOp::create(builder, task.getLoc(), getChannelName(channel),
                         microbatch);
}

void ProgramWriter::send(pp::TaskOp task, int64_t microbatch) {
  for (int64_t channel : graph.getWrites(task))
    if (graph.crossesRanks(channel))
      pp::SendOp::create(builder, task.getLoc(), getChannelName(channel),
                         microbatch);
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
