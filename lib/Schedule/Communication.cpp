//===- Communication.cpp - Sends and receives of a schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Communication.h"

#include "DryRun.h"
#include "ScheduleTasks.h"

using namespace llvm;
using namespace pipewright;

Action ValueNumbering::transfer(int64_t value, bool isSend) const {
  bool isGradient = value % 2 == 1;
  int64_t position = value / 2;
  int64_t row = position / microbatches;
  int64_t stage = row % stages;
  // The other end of an activation is a stage later, of a gradient earlier.
  if (!isSend)
    stage += isGradient ? -1 : 1;
  ActionKind kind = isGradient
                        ? (isSend ? ActionKind::SendB : ActionKind::RecvB)
                        : (isSend ? ActionKind::SendF : ActionKind::RecvF);
  return {kind, stage, position - row * microbatches, row / stages};
}

/// Adds the action \p index of \p rank, which is not a step.
static void addToNetwork(const Schedule &schedule, const ValueFlow &flow,
                         int64_t rank, int64_t index, NetworkBuilder &builder) {
  SmallVector<Transfer, 4> transfers;
  SmallVector<int64_t, 4> uses;
  const Action &action = schedule.getActions(rank)[index];
  forEachPart(action, [&](const Action &part) {
    if (!part.isTransfer())
      return flow.forEachUse(part,
                             [&](int64_t use, bool) { uses.push_back(use); });
    MessageKind kind = part.kind <= ActionKind::RecvF ? MessageKind::Activation
                                                      : MessageKind::Gradient;
    transfers.push_back({part.isSend(), kind, getPeer(schedule, part),
                         flow.getValues().message(part)});
  });
  if (action.isCompute())
    builder.addCompute(rank, index, uses);
  else
    builder.addTransfers(rank, index, transfers);
}

Network pipewright::buildNetwork(const Schedule &schedule, Transport transport,
                                 bool withComputing) {
  ValueFlow flow(schedule);
  NetworkBuilder builder(schedule.getRanks(), flow.getValues().size(),
                         transport, withComputing);
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    for (auto [index, action] : enumerate(schedule.getActions(rank)))
      if (action.kind != ActionKind::Step)
        addToNetwork(schedule, flow, rank, index, builder);
  return builder.take();
}

static bool isCommunication(const Action &action) {
  return action.isTransfer() || action.kind == ActionKind::Group;
}

bool pipewright::hasTransfers(const Schedule &schedule) {
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    if (any_of(schedule.getActions(rank), isCommunication))
      return true;
  return false;
}

Schedule pipewright::removeTransfers(Schedule schedule) {
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    std::vector<Action> actions = schedule.getActions(rank);
    llvm::erase_if(actions, isCommunication);
    schedule.setActions(rank, std::move(actions));
  }
  return schedule;
}

namespace {
/// Collects the new actions of one rank.
class LaneWriter {
public:
  LaneWriter(ArrayRef<Action> actions, const ValueNumbering &values)
      : actions(actions), values(values) {
    // As many again are usual; most schedules send and receive once each.
    lane.reserve(3 * actions.size());
  }

  void addTask(size_t index) { lane.push_back(actions[index]); }
  void addMessage(int64_t value, bool isSend) {
    lane.push_back(values.transfer(value, isSend));
  }
  std::vector<Action> take() {
    if (!actions.empty() && actions.back().kind == ActionKind::Step)
      lane.push_back({ActionKind::Step});
    lane.shrink_to_fit();
    return std::move(lane);
  }

private:
  ArrayRef<Action> actions;
  const ValueNumbering &values;
  std::vector<Action> lane;
};
} // namespace

Schedule pipewright::addCommunication(Schedule schedule, const CostModel &costs,
                                      MessageOrder order) {
  ValueNumbering values(schedule);
  ScheduleTasks tasks(schedule, costs);
  std::optional<MessagePlacer<ScheduleTasks>> placer;
  std::vector<bool> isReceived;
  if (order == MessageOrder::Global)
    placer.emplace(tasks);
  else
    isReceived.resize(values.size());
  // Placing the messages of one rank reads no other rank's actions, so each
  // rank can be replaced at once: large schedules fit into memory only once.
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    LaneWriter lane(schedule.getActions(rank), values);
    auto addTask = [&](size_t index) { lane.addTask(index); };
    auto addMessage = [&](int64_t value, bool isSend) {
      lane.addMessage(value, isSend);
    };
    if (placer)
      placer->place(rank, addTask, addMessage);
    else
      placeNaively(tasks, isReceived, rank, addTask, addMessage);
    schedule.setActions(rank, lane.take());
  }
  return schedule;
}
