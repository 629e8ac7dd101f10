//===- Simulator.cpp - How long a schedule takes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Simulator.h"

#include "pipewright/Schedule/PairOverlap.h"

#include "DryRun.h"
#include "ScheduleTasks.h"
#include "TransferRun.h"

#include <algorithm>

using namespace llvm;
using namespace pipewright;

/// Mixes the bits of \p word (the finalizer of SplitMix64).
static uint64_t mix(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

double MachineModel::findFactor(int64_t rank, int64_t index) const {
  double factor = getRankFactor(rank);
  if (jitter == 0)
    return factor;
  // A function of the place alone: the order of simulation does not matter.
  uint64_t word = mix(mix(mix(seed + 1) + rank + 1) + index + 1);
  double uniform = (word >> 11) * 0x1p-53;
  return factor * (1 + jitter * (2 * uniform - 1));
}

/// The parts of \p action, which computes for one stage.
static std::vector<RolePart> getParts(const CostModel &costs,
                                      const Action &action) {
  const StageCost &cost = costs.stages[action.stage];
  bool isForward = action.kind == ActionKind::F;
  std::vector<RolePart> parts =
      isForward ? cost.forwardParts : cost.backwardParts;
  if (parts.empty())
    return {{costs.getDuration(action), 0}};
  if (action.kind == ActionKind::BW && cost.hasWeightTask)
    parts.push_back({cost.w, 0});
  return parts;
}

/// The time of a pair whose branches take turns: one goes on up to its next
/// exchange, and the other one computes during that.
static double getPairDuration(const CostModel &costs, const Action &pair) {
  std::vector<RolePart> branches[] = {getParts(costs, pair.parts[0]),
                                      getParts(costs, pair.parts[1])};
  llvm::SmallVector<Segment, 16> segments;
  std::optional<int64_t> last[2];
  size_t turns = std::max(branches[0].size(), branches[1].size());
  for (size_t turn = 0; turn < turns; ++turn)
    for (size_t branch : {0, 1}) {
      if (turn >= branches[branch].size())
        continue;
      const RolePart &part = branches[branch][turn];
      for (auto [lane, time] :
           {std::pair(SegmentLane::Compute, part.compute),
            std::pair(SegmentLane::Communication, part.exchange)}) {
        Segment &segment = segments.emplace_back();
        segment.lane = lane;
        segment.time = time;
        if (last[branch])
          segment.after.push_back(*last[branch]);
        last[branch] = segments.size() - 1;
      }
    }
  return runSegments(segments);
}

double CostModel::getDuration(const Action &action) const {
  if (action.kind == ActionKind::FB)
    return pair ? *pair : getPairDuration(*this, action);
  const StageCost &cost = stages[action.stage];
  switch (action.kind) {
  case ActionKind::F:
    return cost.f;
  case ActionKind::R:
    return cost.r.value_or(cost.f);
  case ActionKind::B:
    return cost.b;
  case ActionKind::W:
    return cost.w;
  case ActionKind::BW:
    return cost.b + cost.w;
  default:
    return 0;
  }
}

CostModel pipewright::makeUniformCosts(const Schedule &schedule,
                                       const StageCost &share, double latency,
                                       std::optional<double> pair) {
  double chunks = schedule.getShape().chunks;
  StageCost cost = share;
  for (double *part : {&cost.f, &cost.b, &cost.w, &cost.activationBytes})
    *part /= chunks;
  if (cost.r)
    *cost.r /= chunks;
  CostModel costs;
  costs.stages.assign(schedule.getStages(), cost);
  costs.latency = latency;
  if (pair)
    costs.pair = *pair / chunks;
  return costs;
}

Expected<CostModel> pipewright::makeCosts(const Schedule &schedule,
                                          const ShareCosts &costs) {
  CostModel model =
      makeUniformCosts(schedule, costs.share, costs.latency, costs.pair);
  model.machine = costs.machine;
  if (costs.stages.empty())
    return model;
  if (costs.stages.size() != model.stages.size())
    return createStringError("has the costs of " + Twine(costs.stages.size()) +
                             " stages; the schedule has " +
                             Twine(model.stages.size()));
  model.stages = costs.stages;
  return model;
}

/// The messages of \p run, which \p timeline shows, in the order of their
/// ranks.
static void addMessages(const Schedule &schedule, const ScheduleTasks &tasks,
                        const DryRun<ScheduleTasks> &run, Timeline &timeline) {
  ValueNumbering values(schedule);
  auto add = [&](int64_t value, bool isRemote) {
    if (!isRemote)
      return;
    double end = tasks.getArrival(value, run.getEnd(value));
    double moving = tasks.getTransferTime(value);
    if (moving > 0)
      timeline.messages.push_back(
          {values.transfer(value, /*isSend=*/true), end - moving, end});
  };
  for (auto [rank, entries] : enumerate(timeline.ranks))
    for (const Timeline::Entry &entry : entries)
      tasks.forEachMake(rank, entry.action, add);
}

/// Runs all tasks in an order that the links of \p costs allow.
template <typename ObserverT>
static void runTasks(DryRun<ScheduleTasks> &run, const CostModel &costs,
                     ObserverT observe) {
  if (costs.machine.links && costs.machine.links->areShared())
    run.runInOrder(observe);
  else
    run.run(observe);
}

Timeline pipewright::simulate(const Schedule &schedule, const CostModel &costs,
                              bool withMessages) {
  if (costs.machine.transport)
    return simulateTransfers(schedule, costs, withMessages);
  ScheduleTasks tasks(schedule, costs);
  DryRun run(tasks);
  Timeline timeline;
  timeline.ranks.resize(schedule.getRanks());
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    timeline.ranks[rank].reserve(schedule.getActions(rank).size());
  runTasks(run, costs,
           [&](int64_t rank, size_t index, double start, double end) {
             timeline.ranks[rank].push_back(
                 {static_cast<int64_t>(index), start, end});
           });
  timeline.makespan = run.getMakespan();
  if (withMessages)
    addMessages(schedule, tasks, run, timeline);
  return timeline;
}

static double getMakespan(const Schedule &schedule, const CostModel &costs) {
  if (costs.machine.transport)
    return simulateTransfers(schedule, costs, /*withMessages=*/false).makespan;
  ScheduleTasks tasks(schedule, costs);
  DryRun run(tasks);
  runTasks(run, costs, [](int64_t, size_t, double, double) {});
  return run.getMakespan();
}

Spread pipewright::simulateSpread(const Schedule &schedule, CostModel costs,
                                  int64_t seeds) {
  std::vector<double> makespans;
  for (int64_t seed = 0; seed < seeds; ++seed) {
    costs.machine.seed = seed;
    makespans.push_back(getMakespan(schedule, costs));
  }
  llvm::sort(makespans);
  auto percentile = [&](int64_t percent) {
    // The nearest rank: the smallest that so many percent do not exceed.
    return makespans[(percent * seeds + 99) / 100 - 1];
  };
  return {seeds, percentile(50), percentile(90), percentile(99)};
}

std::vector<double> pipewright::getPeakActivations(const Schedule &schedule) {
  // Whole numbers stay exact, whatever the number of chunks.
  std::vector<double> ones(schedule.getStages(), 1);
  std::vector<double> peaks = getPeaks(schedule, ones);
  for (double &peak : peaks)
    peak /= schedule.getShape().chunks;
  return peaks;
}

std::vector<double> pipewright::getPeaks(const Schedule &schedule,
                                         ArrayRef<double> sizes) {
  std::vector<double> peaks;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    double held = 0, peak = 0;
    for (const Action &action : schedule.getActions(rank))
      if (action.isCompute())
        forEachPart(action, [&](const Action &part) {
          if (part.kind == ActionKind::F)
            peak = std::max(peak, held += sizes[part.stage]);
          if (part.isWeightGradient() || schedule.isForwardOnly())
            held -= sizes[part.stage];
        });
    peaks.push_back(peak);
  }
  return peaks;
}

std::vector<double> pipewright::getPeakBytes(const Schedule &schedule,
                                             const CostModel &costs) {
  std::vector<double> sizes;
  for (const StageCost &stage : costs.stages)
    sizes.push_back(stage.activationBytes);
  if (all_of(sizes, [](double size) { return size == 0; }))
    return {};
  return getPeaks(schedule, sizes);
}

int64_t pipewright::countMessages(const Schedule &schedule) {
  int64_t crossings = 0;
  for (const std::vector<int64_t> &ranks : schedule.getPlacement())
    for (size_t stage = 1; stage < ranks.size(); ++stage)
      crossings += ranks[stage - 1] != ranks[stage];
  // An activation, and its gradient back.
  int64_t ways = schedule.isForwardOnly() ? 1 : 2;
  return ways * crossings * schedule.getMicrobatches();
}

Metrics pipewright::measure(const Schedule &schedule,
                            const Timeline &timeline) {
  Metrics metrics;
  metrics.makespan = timeline.makespan;
  metrics.parameterCopies = schedule.getDirections();
  metrics.peakActivations = getPeakActivations(schedule);
  metrics.messages = countMessages(schedule);
  double allBusy = 0;
  for (const std::vector<Timeline::Entry> &entries : timeline.ranks) {
    double busy = 0;
    for (const Timeline::Entry &entry : entries)
      busy += entry.end - entry.start;
    allBusy += busy;
    metrics.idle.push_back(std::max(0.0, timeline.makespan - busy));
    if (entries.empty())
      continue;
    double span = entries.back().end - entries.front().start;
    metrics.span = std::max(metrics.span, span);
    metrics.spanBubble = std::max(metrics.spanBubble, span - busy);
  }
  double available = timeline.makespan * schedule.getRanks();
  metrics.bubbleRatio = available > 0 ? 1 - allBusy / available : 0;
  return metrics;
}
