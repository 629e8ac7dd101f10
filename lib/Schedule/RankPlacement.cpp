//===- RankPlacement.cpp - Ranks on the devices of a topology
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/RankPlacement.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;
using namespace pipewright;

std::vector<RankTraffic> pipewright::listTraffic(const Schedule &schedule,
                                                 ArrayRef<StageCost> stages) {
  std::map<std::pair<int64_t, int64_t>, RankTraffic> found;
  double microbatches = schedule.getMicrobatches();
  auto add = [&](int64_t from, int64_t to, double bytes) {
    RankTraffic &traffic = found[{from, to}];
    traffic.from = from;
    traffic.to = to;
    traffic.messages += microbatches;
    traffic.bytes += microbatches * bytes;
  };
  for (const std::vector<int64_t> &ranks : schedule.getPlacement())
    for (size_t stage = 0; stage + 1 < ranks.size(); ++stage) {
      if (ranks[stage] == ranks[stage + 1])
        continue;
      double bytes = stages[stage].messageBytes;
      add(ranks[stage], ranks[stage + 1], bytes);
      if (!schedule.isForwardOnly())
        add(ranks[stage + 1], ranks[stage], bytes);
    }
  std::vector<RankTraffic> list;
  for (const auto &[ranks, traffic] : found)
    list.push_back(traffic);
  return list;
}

/// For how long a rank computes in a step, on average.
static double getAverageSeconds(const Schedule &schedule,
                                const CostModel &costs, double secondsPerUnit) {
  double total = 0;
  for (const StageCost &stage : costs.stages)
    total += stage.f + (schedule.isForwardOnly() ? 0 : stage.b + stage.w);
  int64_t times = schedule.getMicrobatches() * schedule.getDirections();
  return total * times * secondsPerUnit / schedule.getRanks();
}

static RankOrderProblem makeProblem(const PlacementTarget &target,
                                    const Schedule &schedule,
                                    const CostModel &costs) {
  RankOrderProblem problem{target.topology, schedule.getRanks(),
                           listTraffic(schedule, costs.stages)};
  double average =
      target.kindFactors.empty()
          ? 0
          : getAverageSeconds(schedule, costs, target.secondsPerUnit);
  for (double factor : target.kindFactors)
    problem.kindSeconds.push_back(factor * average);
  return problem;
}

/// Completes what follows from the devices.
static void addDetails(const PlacementTarget &target,
                       const RankOrderProblem &problem,
                       RankPlacement &placement) {
  ArrayRef<int64_t> devices = placement.order.devices;
  placement.crossings = listSlowCrossings(problem, devices);
  for (int64_t device : devices) {
    int64_t kind = target.topology.getPlace(device).kind;
    placement.factors.push_back(
        target.kindFactors.empty() ? 1 : target.kindFactors[kind]);
  }
}

Expected<RankPlacement> pipewright::placeRanks(const PlacementTarget &target,
                                               const Schedule &schedule,
                                               const CostModel &costs) {
  RankOrderProblem problem = makeProblem(target, schedule, costs);
  Expected<RankOrder> order = orderRanks(problem);
  if (!order)
    return order.takeError();
  RankPlacement placement;
  placement.order = std::move(*order);
  addDetails(target, problem, placement);
  return placement;
}

RankPlacement pipewright::describePlacement(const PlacementTarget &target,
                                            const Schedule &schedule,
                                            const CostModel &costs,
                                            ArrayRef<int64_t> devices) {
  RankOrderProblem problem = makeProblem(target, schedule, costs);
  // How good they are tells the best order.
  RankPlacement placement;
  placement.order = cantFail(orderRanks(problem));
  double least = placement.order.seconds;
  placement.order.seconds = getOrderSeconds(problem, devices);
  placement.order.isOptimal &= placement.order.seconds <= least * (1 + 1e-9);
  placement.order.devices.assign(devices.begin(), devices.end());
  addDetails(target, problem, placement);
  return placement;
}

void pipewright::addPlacement(const PlacementTarget &target,
                              const RankPlacement &placement, double &latency,
                              MachineModel &machine) {
  const std::vector<int64_t> &devices = placement.order.devices;
  int64_t ranks = devices.size();
  auto links = std::make_shared<RankLinks>(target.topology, devices,
                                           target.secondsPerUnit);
  double total = 0;
  for (int64_t rank = 0; rank + 1 < ranks; ++rank)
    total += links->get(rank, rank + 1).latency;
  latency = ranks > 1 ? total / (ranks - 1) : 0;
  machine.links = std::move(links);
  if (all_of(placement.factors, [](double factor) { return factor == 1; }))
    return;
  machine.rankFactors.resize(ranks, 1);
  for (auto [slower, factor] :
       zip_equal(machine.rankFactors, placement.factors))
    slower *= factor;
}
