//===- Communication.cpp - Sends and receives of a schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Communication.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipewright;

int64_t ValueNumbering::message(const Action &action) const {
  switch (action.kind) {
  case ActionKind::SendF:
    return activation(action.stage, action);
  case ActionKind::RecvF:
    return activation(action.stage - 1, action);
  case ActionKind::SendB:
    return gradient(action.stage, action);
  default:
    return gradient(action.stage + 1, action);
  }
}

Action ValueNumbering::transfer(int64_t value, bool isSend) const {
  bool isGradient = value % 2 == 1;
  int64_t position = value / 2;
  Action action;
  action.microbatch = position % microbatches;
  action.stage = position / microbatches % stages;
  action.direction = position / microbatches / stages;
  if (isSend) {
    action.kind = isGradient ? ActionKind::SendB : ActionKind::SendF;
    return action;
  }
  action.kind = isGradient ? ActionKind::RecvB : ActionKind::RecvF;
  action.stage += isGradient ? -1 : 1;
  return action;
}

/// Adds to \p task what the action (not a pair) uses and makes.
static void addValues(const Schedule &schedule, const ValueNumbering &values,
                      const Action &action, TaskGraph::Task &task) {
  int64_t stage = action.stage;
  bool isLast = stage + 1 == schedule.getStages();
  switch (action.kind) {
  case ActionKind::F:
    if (stage > 0)
      task.uses.push_back(values.activation(stage - 1, action));
    task.makes.push_back(values.activation(stage, action));
    return;
  case ActionKind::R:
    task.uses.push_back(values.activation(stage, action));
    return;
  case ActionKind::B:
  case ActionKind::BW:
    task.uses.push_back(values.activation(stage, action));
    if (!isLast)
      task.uses.push_back(values.gradient(stage + 1, action));
    task.makes.push_back(values.gradient(stage, action));
    return;
  case ActionKind::W:
    task.uses.push_back(values.gradient(stage, action));
    return;
  default:
    return;
  }
}

TaskGraph pipewright::buildTaskGraph(const Schedule &schedule,
                                     const CostModel &costs) {
  ValueNumbering values(schedule);
  TaskGraph graph;
  graph.values = values.size();
  graph.latency = costs.latency;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    std::vector<TaskGraph::Task> &tasks = graph.ranks.emplace_back();
    for (const Action &action : schedule.getActions(rank)) {
      if (!action.isCompute())
        continue;
      TaskGraph::Task &task = tasks.emplace_back();
      task.duration = costs.getDuration(action);
      forEachPart(action, [&](const Action &part) {
        addValues(schedule, values, part, task);
      });
    }
  }
  return graph;
}

/// The rank at the other end of \p action.
static int64_t getPeer(const Schedule &schedule, const Action &action) {
  bool isNext =
      action.kind == ActionKind::SendF || action.kind == ActionKind::RecvB;
  return schedule.getRank(action.stage + (isNext ? 1 : -1), action.direction);
}

/// Adds the action \p index of \p rank, which is not a step.
static void addToNetwork(const Schedule &schedule, const ValueNumbering &values,
                         int64_t rank, int64_t index, NetworkBuilder &builder) {
  SmallVector<Transfer, 4> transfers;
  TaskGraph::Task task;
  const Action &action = schedule.getActions(rank)[index];
  forEachPart(action, [&](const Action &part) {
    if (!part.isTransfer())
      return addValues(schedule, values, part, task);
    MessageKind kind = part.kind <= ActionKind::RecvF ? MessageKind::Activation
                                                      : MessageKind::Gradient;
    transfers.push_back(
        {part.isSend(), kind, getPeer(schedule, part), values.message(part)});
  });
  if (action.isCompute())
    builder.addCompute(rank, index, task.uses);
  else
    builder.addTransfers(rank, index, transfers);
}

Network pipewright::buildNetwork(const Schedule &schedule,
                                 Transport transport) {
  ValueNumbering values(schedule);
  NetworkBuilder builder(schedule.getRanks(), values.size(), transport);
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    for (auto [index, action] : enumerate(schedule.getActions(rank)))
      if (action.kind != ActionKind::Step)
        addToNetwork(schedule, values, rank, index, builder);
  return builder.take();
}

Schedule pipewright::addCommunication(const Schedule &schedule,
                                      const CostModel &costs,
                                      MessageOrder order) {
  ValueNumbering values(schedule);
  TaskGraph graph = buildTaskGraph(schedule, costs);
  std::vector<std::vector<PlacedStep>> steps =
      order == MessageOrder::Global ? placeMessages(graph, runTasks(graph))
                                    : placeMessagesNaively(graph);
  Schedule result = schedule;
  for (auto [rank, list] : enumerate(steps)) {
    std::vector<Action> computes, actions;
    bool hasStep = false;
    for (const Action &action : schedule.getActions(rank)) {
      if (action.isCompute())
        computes.push_back(action);
      hasStep |= action.kind == ActionKind::Step;
    }
    for (const PlacedStep &step : list)
      actions.push_back(
          step.kind == PlacedStep::Task
              ? computes[step.index]
              : values.transfer(step.index, step.kind == PlacedStep::Send));
    if (hasStep)
      actions.push_back({ActionKind::Step});
    result.setActions(rank, std::move(actions));
  }
  return result;
}
