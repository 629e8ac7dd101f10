//===- StepLosses.cpp - Where the time of a step goes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Plan/StepLosses.h"

#include "pipewright/Schedule/Recomputation.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace pipewright;

double pipewright::simulateCut(const Schedule &schedule,
                               const CostModel &costs) {
  std::vector<bool> recomputes;
  for (const StageCost &stage : costs.stages)
    recomputes.push_back(stage.r.value_or(0) > 0);
  bool recomputesAny = llvm::is_contained(recomputes, true);
  bool splits = splitsBackward(schedule);
  if (!recomputesAny && !splits)
    return simulate(schedule, costs).makespan;
  Schedule complete = splits ? splitFullBackwards(schedule) : schedule;
  if (recomputesAny)
    complete = addRecomputation(complete, recomputes);
  return simulate(complete, costs).makespan;
}

CostModel pipewright::freeLinks(CostModel costs) {
  costs.latency = 0;
  costs.machine.bandwidth = 0;
  costs.machine.links = nullptr;
  return costs;
}

double pipewright::getStageTime(const Schedule &schedule,
                                const CostModel &costs, int64_t stage) {
  const StageCost &cost = costs.stages[stage];
  return (cost.f + cost.b + cost.w + cost.r.value_or(0)) *
         costs.machine.getRankFactor(schedule.getRank(stage));
}

namespace {
/// The pairs of a schedule, all ranks together.
struct Pairs {
  int64_t count = 0;
  double time = 0;
  /// That of their parts, if one ran after the other.
  double apart = 0;

  double getHidden() const { return apart - time; }
};
} // namespace

static Pairs addUpPairs(const Schedule &schedule, const CostModel &costs) {
  Pairs pairs;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    for (const Action &action : schedule.getActions(rank)) {
      if (action.kind != ActionKind::FB)
        continue;
      double factor = costs.machine.getRankFactor(rank);
      ++pairs.count;
      pairs.time += costs.getDuration(action) * factor;
      for (const Action &part : llvm::ArrayRef<Action>(action.parts))
        pairs.apart += costs.getDuration(part) * factor;
    }
  return pairs;
}

static void keepAll(CostModel &costs) {
  for (StageCost &stage : costs.stages)
    stage.r = 0;
}

/// Gives all stages the same share of the work, and all pairs the same time.
/// \returns the work of one rank.
static double level(const Schedule &schedule, CostModel &costs) {
  Pairs pairs = addUpPairs(schedule, costs);
  StageCost mean = {0, 0, 0, 0};
  for (auto [stage, cost] : llvm::enumerate(costs.stages)) {
    double factor = costs.machine.getRankFactor(schedule.getRank(stage));
    mean.f += cost.f * factor;
    mean.b += cost.b * factor;
    mean.w += cost.w * factor;
  }
  double work = (mean.f + mean.b + mean.w) * schedule.getShape().microbatches -
                pairs.getHidden();
  for (double *part : {&mean.f, &mean.b, &mean.w})
    *part /= costs.stages.size();
  costs.stages.assign(costs.stages.size(), mean);
  costs.machine.rankFactors.clear();
  if (pairs.count > 0)
    costs.pair = pairs.time / pairs.count;
  return work / schedule.getRanks();
}

StepLosses pipewright::findLosses(const Schedule &schedule,
                                  const JudgedCut &cut) {
  StepLosses losses;
  losses.update = cut.updateSeconds;
  double now = cut.stepSeconds - cut.updateSeconds;
  CostModel costs;
  auto remove = [&](double &part) {
    double before = now;
    now = simulateCut(schedule, costs);
    part = before - now;
  };
  costs = freeLinks(cut.costs);
  remove(losses.links);
  keepAll(costs);
  remove(losses.recompute);
  losses.work = level(schedule, costs);
  remove(losses.imbalance);
  losses.fillAndDrain = now - losses.work;
  return losses;
}

CostModel pipewright::speedUpLinks(CostModel costs, double factor) {
  costs.latency /= factor;
  costs.machine.bandwidth *= factor;
  if (!costs.machine.links)
    return costs;
  const RankLinks &links = *costs.machine.links;
  Topology topology = links.getTopology();
  for (LinkClass &link : topology.getLinks()) {
    link.latencySeconds /= factor;
    link.bytesPerSecond *= factor;
  }
  costs.machine.links =
      std::make_shared<RankLinks>(std::move(topology), links.getDevices());
  return costs;
}

double pipewright::getBubbleRatio(const Schedule &schedule,
                                  const JudgedCut &cut) {
  double busy = 0;
  for (int64_t stage = 0; stage < schedule.getStages(); ++stage)
    busy += getStageTime(schedule, cut.costs, stage);
  busy = busy * schedule.getShape().microbatches -
         addUpPairs(schedule, cut.costs).getHidden();
  double ratio =
      1 - busy / schedule.getRanks() / (cut.stepSeconds - cut.updateSeconds);
  return std::max(ratio, 0.0); // Below it only by rounding.
}
