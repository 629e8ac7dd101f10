//===- PlanMachine.cpp - What a step meets beside its stages
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanMachine.h"

#include "pipewright/Driver/AddTopology.h"

using namespace pipewright;

llvm::Expected<PlanMachine>
PlanMachine::read(const BuildOptions &options,
                  const std::optional<Profile> &profile) {
  PlanMachine machine;
  llvm::Expected<Device> device = loadDevice(options.device);
  if (!device)
    return device.takeError();
  machine.device = std::move(*device);
  if (!options.topology.empty()) {
    llvm::Expected<Topology> topology = loadTopology(options.topology);
    if (!topology)
      return topology.takeError();
    machine.topology = std::move(*topology);
  }
  if (!profile)
    return machine;
  if (const MeasuredLink *link = profile->getTypicalLink()) {
    machine.latency = link->latencySeconds;
    machine.bandwidth = link->bytesPerSecond;
  }
  for (const MeasuredUpdate &update : profile->updates)
    if (update.optimizer == options.optimizer)
      machine.measuredUpdate = update.getSeconds(1);
  return machine;
}

llvm::Expected<CostModel>
PlanMachine::makeCosts(const BuildOptions &options, const Schedule &schedule,
                       llvm::ArrayRef<PlanLayer> layers) const {
  CostModel costs;
  if (!topology) {
    costs.latency = latency;
    costs.machine.bandwidth = bandwidth;
    return costs;
  }
  constexpr double picosecond = 1e-12;
  StageCost equal = {0, 0, 0};
  for (const PlanLayer &layer : layers) {
    equal.f += layer.forward * picosecond / schedule.getStages();
    equal.b += layer.backward * picosecond / schedule.getStages();
    equal.w += layer.weight * picosecond / schedule.getStages();
    equal.messageBytes =
        std::max<double>(equal.messageBytes, layer.bytesBefore);
  }
  costs.stages.assign(schedule.getStages(), equal);
  llvm::Expected<PlacementSummary> placement =
      placeOnTopology(options, schedule, costs);
  if (!placement)
    return placement.takeError();
  costs.stages.clear();
  return costs;
}

double PlanMachine::getUpdateSecondsPerByte(int64_t copies) const {
  if (measuredUpdate)
    return *measuredUpdate / (4 * copies);
  // All are read, and all but the gradient are written.
  return (2.0 * copies - 1) / copies / device.bytesPerSecond;
}

LinkClass PlanMachine::getReduceLink(int64_t ranks) const {
  std::optional<LinkClass> link;
  if (topology)
    link = topology->getLinkToReplica(ranks, /*replica=*/1);
  return link.value_or(LinkClass{"", latency, bandwidth});
}

double PlanMachine::getReduceSecondsPerByte(int64_t copies, int64_t replicas,
                                            int64_t ranks) const {
  double speed = getReduceLink(ranks).bytesPerSecond;
  if (replicas == 1 || speed == 0)
    return 0;
  return 2.0 * (replicas - 1) / replicas / copies / speed;
}

double PlanMachine::getReduceLatency(int64_t replicas, int64_t ranks) const {
  return 2 * (replicas - 1) * getReduceLink(ranks).latencySeconds;
}
