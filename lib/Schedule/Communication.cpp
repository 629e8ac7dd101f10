//===- Communication.cpp - Sends and receives of a schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Communication.h"

#include "DryRun.h"
#include "ParallelRanks.h"
#include "ScheduleTasks.h"

using namespace llvm;
using namespace pipewright;

Action ValueNumbering::transfer(int64_t value, bool isSend) const {
  bool isGradient = value % 2 == 1;
  int64_t position = value / 2;
  int64_t row = position / microbatches;
  // Divisions are slow, and most schedules have one direction.
  int64_t direction = directions == 1 ? 0 : row / stages;
  int64_t stage = row - direction * stages;
  // The other end of an activation is a stage later, of a gradient earlier.
  if (!isSend)
    stage += isGradient ? -1 : 1;
  ActionKind kind = isGradient
                        ? (isSend ? ActionKind::SendB : ActionKind::RecvB)
                        : (isSend ? ActionKind::SendF : ActionKind::RecvF);
  return {kind, stage, position - row * microbatches, direction};
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
/// Collects the new actions of one rank after the other.
class LaneWriter {
public:
  explicit LaneWriter(const ValueNumbering &values) : values(values) {}

  void begin(ArrayRef<Action> newActions) { actions = newActions; }
  void addTask(size_t index) { lane.push_back(actions[index]); }
  void addMessage(int64_t value, bool isSend) {
    lane.push_back(values.transfer(value, isSend));
  }
  /// The lane, in no more memory than it needs; that in which it grew serves
  /// the next one.
  std::vector<Action> take() {
    if (!actions.empty() && actions.back().kind == ActionKind::Step)
      lane.push_back({ActionKind::Step});
    std::vector<Action> taken(std::make_move_iterator(lane.begin()),
                              std::make_move_iterator(lane.end()));
    lane.clear();
    return taken;
  }

private:
  ArrayRef<Action> actions;
  const ValueNumbering &values;
  std::vector<Action> lane;
};
} // namespace

/// Calls \p place with each rank from \p first to before \p last, and with what
/// takes its tasks and messages. Placing the messages of one rank must read no
/// other rank's actions, so each rank is replaced at once: large schedules fit
/// into memory only once.
template <typename PlaceT>
static void replaceActions(Schedule &schedule, const ValueNumbering &values,
                           int64_t first, int64_t last, PlaceT place) {
  LaneWriter lane(values);
  auto addTask = [&](size_t index) { lane.addTask(index); };
  auto addMessage = [&](int64_t value, bool isSend) {
    lane.addMessage(value, isSend);
  };
  for (int64_t rank = first; rank < last; ++rank) {
    lane.begin(schedule.getActions(rank));
    place(rank, addTask, addMessage);
    schedule.setActions(rank, lane.take());
  }
}

Schedule pipewright::addCommunication(Schedule schedule, const CostModel &costs,
                                      MessageOrder order) {
  ValueNumbering values(schedule);
  ScheduleTasks tasks(schedule, costs);
  if (order == MessageOrder::Naive) {
    std::vector<bool> isReceived(values.size());
    replaceActions(schedule, values, 0, schedule.getRanks(),
                   [&](int64_t rank, auto addTask, auto addMessage) {
                     placeNaively(tasks, isReceived, rank, addTask, addMessage);
                   });
    return schedule;
  }
  MessagePlacer<ScheduleTasks> placer(tasks, ReceiveTime::Used);
  forEachRange(schedule, /*inParallel=*/true, [&](int64_t first, int64_t last) {
    MessagePlacer<ScheduleTasks>::Scratch scratch;
    replaceActions(schedule, values, first, last,
                   [&](int64_t rank, auto addTask, auto addMessage) {
                     placer.place(rank, scratch, addTask, addMessage);
                   });
  });
  return schedule;
}
