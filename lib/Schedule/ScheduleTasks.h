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
    if (costs.machine.bandwidth > 0 || costs.machine.links)
      addBoundaries();
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

  /// Values leave a rank in the order in which it makes them, so what a link of
  /// its own does next is known when a value is made. Where ranks share links,
  /// that holds if tasks are run in the order of their ends.
  void send(int64_t value, double end) {
    if (boundaries.empty())
      return;
    const Boundary &boundary = getBoundary(value);
    double start = std::max({end, isFree[boundary.out], isFree[boundary.in]});
    isFree[boundary.out] = isFree[boundary.in] = start + boundary.time;
    arrivals[value] = start + boundary.time + boundary.latency;
  }
  double getArrival(int64_t value, double end) const {
    return boundaries.empty() ? end + costs.latency : arrivals[value];
  }
  /// How long \p value is under way once it leaves.
  double getTransferTime(int64_t value) const {
    if (boundaries.empty())
      return costs.latency;
    const Boundary &boundary = getBoundary(value);
    return boundary.time + boundary.latency;
  }

private:
  /// What the activations, or the gradients, of one stage have in common.
  struct Boundary {
    /// The ways that a message occupies, by their place in isFree.
    int32_t out = 0, in = 0;
    /// For how long.
    double time = 0;
    double latency = 0;
  };

  const Boundary &getBoundary(int64_t value) const {
    return boundaries[flow.getValues().getRow(value)];
  }

  void addBoundaries() {
    arrivals.resize(getValues());
    boundaries.resize(flow.getValues().getRows());
    std::map<int64_t, int32_t> ways;
    for (int64_t direction = 0; direction < schedule.getDirections();
         ++direction)
      for (int64_t stage = 0; stage + 1 < schedule.getStages(); ++stage) {
        addBoundary({ActionKind::SendF, stage, 0, direction}, ways);
        addBoundary({ActionKind::SendB, stage + 1, 0, direction}, ways);
      }
    isFree.resize(ways.size());
  }

  void addBoundary(const Action &send, std::map<int64_t, int32_t> &ways) {
    int64_t from = schedule.getRank(send.stage, send.direction);
    int64_t to = getPeer(schedule, send);
    if (from == to)
      return;
    RankLink link = costs.getLink(from, to);
    auto number = [&](int64_t way) {
      return ways.try_emplace(way, ways.size()).first->second;
    };
    const ValueNumbering &values = flow.getValues();
    boundaries[values.getRow(values.message(send))] = {
        number(link.ways[0]), number(link.ways[1]),
        link.getMessageTime(costs.getMessageBytes(send)), link.latency};
  }

  const Schedule &schedule;
  const CostModel &costs;
  ValueFlow flow;
  /// Where links have a bandwidth: per row of values its boundary, per way when
  /// it is free again, and per value when it arrived.
  std::vector<Boundary> boundaries;
  std::vector<double> isFree, arrivals;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_SCHEDULETASKS_H
