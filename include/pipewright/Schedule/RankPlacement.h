//===- RankPlacement.h - Ranks on the devices of a topology -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_RANKPLACEMENT_H
#define PIPEWRIGHT_SCHEDULE_RANKPLACEMENT_H

#include "pipewright/Cost/RankOrder.h"
#include "pipewright/Schedule/Simulator.h"

namespace pipewright {

/// The machine that a pipeline runs on, as its costs see it.
struct PlacementTarget {
  Topology topology;
  /// How many seconds a unit of the costs' times is.
  double secondsPerUnit = 1;
  /// Per kind of device, how many times longer it computes than the costs say;
  /// empty: all as they say.
  std::vector<double> kindFactors = {};
};

struct RankPlacement {
  RankOrder order;
  std::vector<SlowCrossing> crossings;
  /// Per rank, how many times longer it computes than the costs say.
  std::vector<double> factors;
};

/// What the ranks of \p schedule send each other in a step, if the messages of
/// \p stages have the sizes that these say.
std::vector<RankTraffic> listTraffic(const Schedule &schedule,
                                     llvm::ArrayRef<StageCost> stages);

/// The best devices of \p target that are found for the ranks of \p schedule,
/// of which the placement counts and not the actions; refuses more ranks than
/// devices.
llvm::Expected<RankPlacement> placeRanks(const PlacementTarget &target,
                                         const Schedule &schedule,
                                         const CostModel &costs);

/// The same for devices that are chosen already, one for each rank.
RankPlacement describePlacement(const PlacementTarget &target,
                                const Schedule &schedule,
                                const CostModel &costs,
                                llvm::ArrayRef<int64_t> devices);

/// Has the ranks compute, and their messages travel, as \p placement says.
void addPlacement(const PlacementTarget &target, const RankPlacement &placement,
                  double &latency, MachineModel &machine);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_RANKPLACEMENT_H
