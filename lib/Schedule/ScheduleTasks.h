//===- ScheduleTasks.h - A schedule's actions as tasks ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_SCHEDULETASKS_H
#define PIPEWRIGHT_LIB_SCHEDULE_SCHEDULETASKS_H

#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/Simulator.h"

#include <algorithm>
#include <map>

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
      : schedule(schedule), costs(costs), flow(schedule) {
    if (costs.machine.bandwidth > 0)
      addLinks();
  }

  int64_t getRanks() const { return schedule.getRanks(); }
  int64_t getValues() const { return flow.getValues().size(); }
  size_t getItems(int64_t rank) const {
    return schedule.getActions(rank).size();
  }
  bool isTask(int64_t rank, size_t index) const {
    return schedule.getActions(rank)[index].isCompute();
  }
  double getDuration(int64_t rank, size_t index) const {
    return costs.getDuration(schedule.getActions(rank)[index], rank, index);
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

  /// Values leave a rank in the order in which it makes them, so what its links
  /// do next is known when a value is made.
  void send(int64_t value, double end) {
    if (links.empty())
      return;
    Boundary boundary = boundaries[flow.getValues().getRow(value)];
    double &isFree = links[boundary.link];
    isFree = std::max(isFree, end) + boundary.time;
    arrivals[value] = isFree + costs.latency;
  }
  double getArrival(int64_t value, double end) const {
    return links.empty() ? end + costs.latency : arrivals[value];
  }

private:
  /// What the activations, or the gradients, of one stage have in common.
  struct Boundary {
    int64_t link = 0;
    /// For how long a message occupies the link.
    double time = 0;
  };

  void addLinks() {
    const ValueNumbering &values = flow.getValues();
    arrivals.resize(values.size());
    boundaries.resize(values.getRows());
    std::map<std::pair<int64_t, int64_t>, int64_t> numbers;
    auto add = [&](int64_t value, int64_t from, int64_t to, int64_t stage,
                   int64_t direction) {
      std::pair<int64_t, int64_t> ends = {schedule.getRank(from, direction),
                                          schedule.getRank(to, direction)};
      int64_t link = numbers.try_emplace(ends, numbers.size()).first->second;
      boundaries[values.getRow(value)] = {link, costs.getMessageTime(stage)};
    };
    for (int64_t direction = 0; direction < schedule.getDirections();
         ++direction)
      for (int64_t stage = 0; stage + 1 < schedule.getStages(); ++stage) {
        Action first(ActionKind::F, stage, 0, direction);
        add(values.activation(stage, first), stage, stage + 1, stage,
            direction);
        add(values.gradient(stage + 1, first), stage + 1, stage, stage,
            direction);
      }
    // Even without messages there are links: they say how arrivals are found.
    links.resize(numbers.size() + 1);
  }

  const Schedule &schedule;
  const CostModel &costs;
  ValueFlow flow;
  /// With a bandwidth: per row of values its boundary, per link when it is free
  /// again, and per value when it arrived.
  std::vector<Boundary> boundaries;
  std::vector<double> links, arrivals;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_SCHEDULETASKS_H
