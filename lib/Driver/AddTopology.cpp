//===- AddTopology.cpp - What a topology says of the ranks
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/AddTopology.h"

#include "pipewright/Cost/KindFactors.h"
#include "pipewright/Cost/LayerTable.h"
#include "pipewright/Schedule/RankPlacement.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace pipewright;

/// The stages of \p options, without actions.
static Schedule makeStages(const BuildOptions &options) {
  ScheduleShape shape{options.ranks, options.microbatches, options.chunks};
  Placement placement = options.needs.placement;
  if (placement.empty())
    placement = placeInLoops(options.ranks, options.chunks);
  Schedule schedule(shape, std::move(placement));
  if (options.forwardOnly)
    schedule.setForwardOnly();
  return schedule;
}

/// Stages, in seconds, that have equal parts of the layers of \p module.
static CostModel makeEqualCosts(ModuleOp module, int64_t stages) {
  StageCost cost{/*f=*/0, /*b=*/0, /*w=*/0};
  for (const LayerRow &layer : makeLayerTable(module).layers) {
    cost.f += layer.secondsForward / stages;
    cost.b += layer.secondsBackwardInput / stages;
    cost.w += layer.secondsBackwardWeight / stages;
    cost.messageBytes =
        std::max<double>(cost.messageBytes, layer.activationBytes);
  }
  CostModel costs;
  costs.stages.assign(stages, cost);
  return costs;
}

LogicalResult pipewright::addTopology(ModuleOp module, BuildOptions &options) {
  options.devices = {};
  if (options.topology.empty())
    return success();
  auto refuse = [&](llvm::Error error) -> LogicalResult {
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(std::move(error));
  };
  llvm::Expected<Topology> topology = loadTopology(options.topology);
  if (!topology)
    return refuse(topology.takeError());
  llvm::Expected<Device> base = loadDevice(options.device);
  if (!base)
    return refuse(base.takeError());
  DeviceNeeds &needs = options.devices;
  needs.kindFactors = getKindFactors(module, *topology, *base);
  bool areAlike = llvm::all_of(needs.kindFactors, [&](double factor) {
    return factor == needs.kindFactors.front();
  });
  if (areAlike)
    return success();
  Schedule schedule = makeStages(options);
  PlacementTarget target{std::move(*topology), /*secondsPerUnit=*/1,
                         needs.kindFactors};
  llvm::Expected<RankPlacement> placement = placeRanks(
      target, schedule, makeEqualCosts(module, schedule.getStages()));
  if (!placement)
    return refuse(placement.takeError());
  needs.devices = placement->order.devices;
  return success();
}

llvm::Expected<PlacementSummary>
pipewright::placeOnTopology(const BuildOptions &options,
                            const Schedule &schedule, CostModel &costs) {
  llvm::Expected<Topology> topology = loadTopology(options.topology);
  if (!topology)
    return topology.takeError();
  PlacementTarget target{std::move(*topology), /*secondsPerUnit=*/1,
                         options.devices.kindFactors};
  ArrayRef<int64_t> devices = options.devices.devices;
  llvm::Expected<RankPlacement> placement =
      devices.empty() ? placeRanks(target, schedule, costs)
                      : describePlacement(target, schedule, costs, devices);
  if (!placement)
    return placement.takeError();
  addPlacement(target, *placement, costs.latency, costs.machine);
  return summarizePlacement(target, *placement, options.topology);
}
