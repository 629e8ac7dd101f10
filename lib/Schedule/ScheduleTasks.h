//===- ScheduleTasks.h - A schedule's actions as tasks ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_SCHEDULETASKS_H
#define PIPEWRIGHT_LIB_SCHEDULE_SCHEDULETASKS_H

#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/Simulator.h"

namespace pipewright {

/// The values that computing actions use and make.
class ValueFlow {
public:
  explicit ValueFlow(const Schedule &schedule)
      : schedule(schedule), values(schedule), stages(schedule.getStages()) {}

  const ValueNumbering &getValues() const { return values; }

  /// Calls \p function with each value that \p part, which has no parts, uses,
  /// and whether another rank makes it.
  template <typename FunctionT>
  void forEachUse(const Action &part, FunctionT function) const {
    int64_t stage = part.stage;
    switch (part.kind) {
    case ActionKind::F:
      if (stage > 0)
        function(values.activation(stage - 1, part),
                 crosses(part, stage, stage - 1));
      return;
    case ActionKind::R:
      function(values.activation(stage, part), false);
      return;
    case ActionKind::B:
    case ActionKind::BW:
      function(values.activation(stage, part), false);
      if (stage + 1 < stages)
        function(values.gradient(stage + 1, part),
                 crosses(part, stage, stage + 1));
      return;
    case ActionKind::W:
      function(values.gradient(stage, part), false);
      return;
    default:
      return;
    }
  }

  /// Calls \p function with each value that \p part makes, and whether another
  /// rank uses it.
  template <typename FunctionT>
  void forEachMake(const Action &part, FunctionT function) const {
    int64_t stage = part.stage;
    if (part.kind == ActionKind::F)
      function(values.activation(stage, part),
               stage + 1 < stages && crosses(part, stage, stage + 1));
    else if (part.isInputGradient())
      function(values.gradient(stage, part),
               stage > 0 && crosses(part, stage, stage - 1));
  }

private:
  bool crosses(const Action &part, int64_t from, int64_t to) const {
    return schedule.getRank(from, part.direction) !=
           schedule.getRank(to, part.direction);
  }

  const Schedule &schedule;
  ValueNumbering values;
  int64_t stages;
};

/// A source of tasks for DryRun.h: the computing actions of a schedule, all of
/// which it contains. Nothing is copied.
class ScheduleTasks {
public:
  ScheduleTasks(const Schedule &schedule, const CostModel &costs)
      : schedule(schedule), costs(costs), flow(schedule) {}

  int64_t getRanks() const { return schedule.getRanks(); }
  int64_t getValues() const { return flow.getValues().size(); }
  size_t getItems(int64_t rank) const {
    return schedule.getActions(rank).size();
  }
  bool isTask(int64_t rank, size_t index) const {
    return schedule.getActions(rank)[index].isCompute();
  }
  double getDuration(int64_t rank, size_t index) const {
    return costs.getDuration(schedule.getActions(rank)[index]);
  }
  template <typename FunctionT>
  void forEachUse(int64_t rank, size_t index, FunctionT function) const {
    const Action &action = schedule.getActions(rank)[index];
    if (action.parts.empty())
      return flow.forEachUse(action, function);
    for (const Action &part : action.parts)
      flow.forEachUse(part, function);
  }
  template <typename FunctionT>
  void forEachMake(int64_t rank, size_t index, FunctionT function) const {
    const Action &action = schedule.getActions(rank)[index];
    if (action.parts.empty())
      return flow.forEachMake(action, function);
    for (const Action &part : action.parts)
      flow.forEachMake(part, function);
  }
  void send(int64_t, double) {}
  double getArrival(int64_t, double end) const { return end + costs.latency; }

private:
  const Schedule &schedule;
  const CostModel &costs;
  ValueFlow flow;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_SCHEDULETASKS_H
