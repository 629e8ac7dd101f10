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
  /// Roles of a stage that run one after the other for one micro-batch of the
  /// step, each in one or several parts.
  struct Branch {
    SmallVector<ArrayRef<pp::TaskOp>, 3> roles;
    int64_t microbatch;

    bool beginsWith(pp::Role role) const {
      return pp::TaskOp(roles.front().front()).getRole() == role;
    }
    SmallVector<pp::TaskOp> getTasks() const {
      SmallVector<pp::TaskOp> tasks;
      for (ArrayRef<pp::TaskOp> parts : roles)
        llvm::append_range(tasks, parts);
      return tasks;
    }
  };

  /// Fails if the stage's tasks are not those of \p action.
  FailureOr<Branch> getBranch(const Action &action) const;
  void writePair(Branch forward, Branch backward);
  /// Runs the branch's tasks, with the messages of each right beside it.
  void writeBranch(const Branch &branch);
  /// Runs the parts of a role, with what they exchange.
  void writeParts(ArrayRef<pp::TaskOp> parts, int64_t microbatch);
  static void runTasks(ArrayRef<pp::TaskOp> tasks, int64_t microbatch,
                       OpBuilder &builder);
  void receive(pp::TaskOp task, int64_t microbatch);
  void send(pp::TaskOp task, int64_t microbatch);
  StringRef getChannelName(int64_t channel) const {
    return pp::ChannelOp(graph.getChannels()[channel]).getSymName();
  }
  ArrayRef<pp::TaskOp> getParts(const Action &action, pp::Role role) const {
    return graph.getParts(action.stage, role, action.direction);
  }

  const StageGraph &graph;
  const Schedule &schedule;
  pp::ProgramOp program;
  OpBuilder builder;
  /// Channel and micro-batch of what the rank has received.
  llvm::DenseSet<std::pair<int64_t, int64_t>> received;
};

} // namespace

void pipewright::writeRun(OpBuilder &builder, Location loc, pp::TaskOp task,
                          int64_t microbatch) {
  pp::RunOp::create(builder, loc, task.getSymName(), microbatch);
  for (StringRef exchange : StageGraph::getExchanges(task))
    pp::AllToAllOp::create(builder, loc, exchange, microbatch);
}

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
  ArrayRef<pp::TaskOp> full = getParts(action, pp::Role::BW);
  if (!full.empty() &&
      (action.kind == ActionKind::B || action.kind == ActionKind::W))
    return pp::TaskOp(full.front())
        .emitOpError("is a full backward where the schedule has B and W "
                     "apart; split the backward of the stages");
  Branch branch;
  branch.microbatch =
      schedule.getNumberInStep(action.microbatch, action.direction);
  bool hasInputGradient = !getParts(action, pp::Role::B).empty();
  for (pp::Role role : getRoles(action, hasInputGradient))
    if (ArrayRef<pp::TaskOp> parts = getParts(action, role); !parts.empty())
      branch.roles.push_back(parts);
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
  if (!backward.roles.empty() && backward.beginsWith(pp::Role::R)) {
    writeBranch({{backward.roles.front()}, backward.microbatch});
    backward.roles.erase(backward.roles.begin());
  }
  // A stage may lack the tasks that would overlap.
  if (forward.roles.empty() || backward.roles.empty() ||
      backward.beginsWith(pp::Role::W)) {
    writeBranch(forward);
    return writeBranch(backward);
  }
  Branch *branches[] = {&forward, &backward};
  for (const Branch *branch : branches)
    for (pp::TaskOp task : branch->getTasks())
      receive(task, branch->microbatch);
  Location loc = pp::TaskOp(forward.roles.front().front()).getLoc();
  auto overlap = pp::OverlapOp::create(builder, loc, 2);
  for (auto [branch, region] :
       llvm::zip_equal(branches, overlap.getBranches())) {
    OpBuilder inside = OpBuilder::atBlockEnd(&region.front());
    runTasks(branch->getTasks(), branch->microbatch, inside);
  }
  for (const Branch *branch : branches)
    for (pp::TaskOp task : branch->getTasks())
      send(task, branch->microbatch);
}

void ProgramWriter::runTasks(ArrayRef<pp::TaskOp> tasks, int64_t microbatch,
                             OpBuilder &builder) {
  for (pp::TaskOp task : tasks)
    writeRun(builder, task.getLoc(), task, microbatch);
}

void ProgramWriter::writeParts(ArrayRef<pp::TaskOp> parts, int64_t microbatch) {
  for (pp::TaskOp task : parts)
    receive(task, microbatch);
  if (parts.size() == 1) {
    runTasks(parts, microbatch, builder);
  } else {
    Location loc = pp::TaskOp(parts.front()).getLoc();
    auto chain = pp::OverlapOp::create(builder, loc, 1);
    OpBuilder inside = OpBuilder::atBlockEnd(&chain.getBranches()[0].front());
    runTasks(parts, microbatch, inside);
  }
  for (pp::TaskOp task : parts)
    send(task, microbatch);
}

void ProgramWriter::writeBranch(const Branch &branch) {
  for (ArrayRef<pp::TaskOp> parts : branch.roles)
    writeParts(parts, branch.microbatch);
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
