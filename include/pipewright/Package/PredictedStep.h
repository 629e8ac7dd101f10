//===- PredictedStep.h - What a step of a plan will take --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PACKAGE_PREDICTEDSTEP_H
#define PIPEWRIGHT_PACKAGE_PREDICTEDSTEP_H

#include "pipewright/Schedule/RankPlacement.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pipewright {

/// Where a rank runs.
struct DeviceSummary {
  int64_t node = 0;
  /// In its node.
  int64_t device = 0;
  std::string kind;
  /// What the network calls the node; empty: not known.
  std::string host;
  /// How many times longer it computes than the stages' costs say.
  double factor = 1;
};

/// Two ranks whose messages take longer than on the fastest link.
struct CrossingSummary {
  int64_t first = 0, second = 0;
  std::string link;
};

/// The ranks on the devices of a topology.
struct PlacementSummary {
  /// As it was named, and what it calls itself.
  std::string origin, name;
  std::vector<DeviceSummary> ranks;
  std::vector<CrossingSummary> crossings;
  /// Whether no other order has less time of messages.
  bool isOptimal = false;
};

/// The summary of \p placement on the topology \p origin.
PlacementSummary summarizePlacement(const PlacementTarget &target,
                                    const RankPlacement &placement,
                                    llvm::StringRef origin);

/// "ranks 0-7 on node 0 devices 0-7 (h100)", a line for each run of devices,
/// and the crossings.
void printPlacement(const PlacementSummary &placement, llvm::raw_ostream &os);

/// A rankfile for OpenMPI that puts each rank on its node, bound to the core
/// that has the number of its device; empty where nodes have no names.
std::string makeRankfile(const PlacementSummary &placement);

/// What messages and updates take, in seconds.
struct PredictedMachine {
  double latencySeconds = 0;
  /// 0: messages take no time but the latency.
  double bytesPerSecond = 0;
  /// In place of both, and for the ranks' devices.
  std::optional<PlacementSummary> placement;
  /// Of the slowest rank.
  double updateSeconds = 0;
};

/// What the simulation of the plan says, in seconds.
struct PredictedStep {
  double makespan = 0;
  double bubbleRatio = 0;
  /// What it is predicted from: "costs by formula for device 'cpu'".
  std::string costs;
  PredictedMachine machine;
  /// The timeline as an SVG element.
  std::string timeline;
};

} // namespace pipewright

#endif // PIPEWRIGHT_PACKAGE_PREDICTEDSTEP_H
