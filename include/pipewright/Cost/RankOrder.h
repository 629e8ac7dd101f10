//===- RankOrder.h - Which rank runs on which device ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Neighbouring stages exchange all the messages of a pipeline, so it matters
// which devices their ranks are on. The order is the one with the least total
// time of messages, none of which waits for another, and of computing, where
// devices differ. It includes no MLIR header.
//
// Ranks that exchange messages with the one before and the one after them
// only, or in a ring, make this a shortest Hamiltonian path or cycle. It is
// found exactly by dynamic programming over the sets of devices in use (Held
// and Karp, J. SIAM 1962, doi:10.1137/0110015), where devices that nothing
// tells apart are counted and not listed. Larger problems, and other traffic,
// are improved by exchanging ranks, and compared with a lower bound.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_RANKORDER_H
#define PIPEWRIGHT_COST_RANKORDER_H

#include "pipewright/Cost/Topology.h"

namespace pipewright {

/// What one rank sends to another in a step. There is one entry at most for an
/// ordered pair of ranks.
struct RankTraffic {
  int64_t from = 0, to = 0;
  double messages = 0, bytes = 0;
};

struct RankOrderProblem {
  const Topology &topology;
  int64_t ranks = 1;
  std::vector<RankTraffic> traffic = {};
  /// Per kind of device, for how long a rank computes on it in a step; empty:
  /// it does not matter.
  std::vector<double> kindSeconds = {};
};

struct RankOrder {
  /// Of each rank, its device.
  std::vector<int64_t> devices;
  /// The total time of messages, and of computing by kindSeconds.
  double seconds = 0;
  /// No order takes less.
  double bound = 0;
  /// Whether no other order takes less.
  bool isOptimal = false;
};

/// The best order that is found; the first devices in their own order if that
/// is as good. Refuses more ranks than devices.
llvm::Expected<RankOrder> orderRanks(const RankOrderProblem &problem);

/// RankOrder::seconds of \p devices.
double getOrderSeconds(const RankOrderProblem &problem,
                       llvm::ArrayRef<int64_t> devices);

/// Two ranks whose messages to each other take longer than on the fastest link
/// of the topology.
struct SlowCrossing {
  int64_t first = 0, second = 0;
  /// The slower one of their links.
  int64_t link = 0;
};

/// Those of \p devices, in the order of their ranks.
std::vector<SlowCrossing> listSlowCrossings(const RankOrderProblem &problem,
                                            llvm::ArrayRef<int64_t> devices);

} // namespace pipewright

#endif // PIPEWRIGHT_COST_RANKORDER_H
