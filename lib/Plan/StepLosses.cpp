//===- StepLosses.cpp - Where the time of a step goes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Plan/StepLosses.h"

#include "pipewright/Schedule/Recomputation.h"

#include "llvm/ADT/STLExtras.h"

using namespace pipewright;

double pipewright::simulateCut(const Schedule &schedule,
                               const CostModel &costs) {
  std::vector<bool> recomputes;
  for (const StageCost &stage : costs.stages)
    recomputes.push_back(stage.r.value_or(0) > 0);
  if (!llvm::is_contained(recomputes, true))
    return simulate(schedule, costs).makespan;
  return simulate(addRecomputation(schedule, recomputes), costs).makespan;
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

static void keepAll(CostModel &costs) {
  for (StageCost &stage : costs.stages)
    stage.r = 0;
}

/// Gives all stages the same share of the work. \returns the work of one rank
/// for a micro-batch of each direction.
static double level(const Schedule &schedule, CostModel &costs) {
  StageCost mean = {0, 0, 0, 0};
  for (auto [stage, cost] : llvm::enumerate(costs.stages)) {
    double factor = costs.machine.getRankFactor(schedule.getRank(stage));
    mean.f += cost.f * factor;
    mean.b += cost.b * factor;
    mean.w += cost.w * factor;
  }
  double work = mean.f + mean.b + mean.w;
  for (double *part : {&mean.f, &mean.b, &mean.w})
    *part /= costs.stages.size();
  costs.stages.assign(costs.stages.size(), mean);
  costs.machine.rankFactors.clear();
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
  double ofMicrobatch = level(schedule, costs);
  remove(losses.imbalance);
  losses.work = ofMicrobatch * schedule.getShape().microbatches;
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
  double ofRank = busy * schedule.getShape().microbatches / schedule.getRanks();
  return 1 - ofRank / (cut.stepSeconds - cut.updateSeconds);
}
