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

Network pipewright::buildNetwork(const Schedule &schedule) {
  ValueNumbering values(schedule);
  Network network;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    std::vector<NetworkStep> &steps = network.ranks.emplace_back();
    for (auto [index, action] : enumerate(schedule.getActions(rank))) {
      if (action.isCompute() || action.kind == ActionKind::Step)
        continue;
      NetworkStep &step = steps.emplace_back();
      step.action = index;
      forEachPart(action, [&](const Action &part) {
        step.transfers.push_back(
            {part.isSend(), getPeer(schedule, part), values.message(part)});
      });
    }
  }
  return network;
}

Schedule pipewright::addCommunication(const Schedule &schedule,
                                      const CostModel &costs) {
  ValueNumbering values(schedule);
  TaskGraph graph = buildTaskGraph(schedule, costs);
  std::vector<std::vector<PlacedStep>> steps =
      placeMessages(graph, runTasks(graph));
  Schedule result = schedule;
  for (auto [rank, list] : enumerate(steps)) {
    ArrayRef<Action> computes = schedule.getActions(rank);
    std::vector<Action> actions;
    for (const PlacedStep &step : list)
      actions.push_back(
          step.kind == PlacedStep::Task
              ? computes[step.index]
              : values.transfer(step.index, step.kind == PlacedStep::Send));
    result.setActions(rank, std::move(actions));
  }
  return result;
}
