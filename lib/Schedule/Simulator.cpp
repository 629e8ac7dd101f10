//===- Simulator.cpp - How long a schedule takes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Simulator.h"

#include "DryRun.h"
#include "ScheduleTasks.h"

#include <algorithm>

using namespace llvm;
using namespace pipewright;

double CostModel::getDuration(const Action &action) const {
  if (action.kind == ActionKind::FB) {
    if (pair)
      return *pair;
    return getDuration(action.parts[0]) + getDuration(action.parts[1]);
  }
  const StageCost &cost = stages[action.stage];
  switch (action.kind) {
  case ActionKind::F:
  case ActionKind::R:
    return cost.f;
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
  StageCost cost = {share.f / chunks, share.b / chunks, share.w / chunks};
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
  if (costs.stages.empty())
    return model;
  if (costs.stages.size() != model.stages.size())
    return createStringError("has the costs of " + Twine(costs.stages.size()) +
                             " stages; the schedule has " +
                             Twine(model.stages.size()));
  model.stages = costs.stages;
  return model;
}

Timeline pipewright::simulate(const Schedule &schedule,
                              const CostModel &costs) {
  ScheduleTasks tasks(schedule, costs);
  DryRun run(tasks);
  Timeline timeline;
  timeline.ranks.resize(schedule.getRanks());
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    timeline.ranks[rank].reserve(schedule.getActions(rank).size());
  run.run([&](int64_t rank, size_t index, double start, double end) {
    timeline.ranks[rank].push_back({static_cast<int64_t>(index), start, end});
  });
  timeline.makespan = run.getMakespan();
  return timeline;
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
