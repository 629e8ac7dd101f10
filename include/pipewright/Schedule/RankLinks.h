//===- RankLinks.h - The links between ranks --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_RANKLINKS_H
#define PIPEWRIGHT_SCHEDULE_RANKLINKS_H

#include "pipewright/Cost/Topology.h"

namespace pipewright {

/// What a message from one rank to another meets.
struct RankLink {
  /// From when it has left to when it is there.
  double latency = 0;
  /// Bytes per unit of time; 0: it leaves in no time.
  double bandwidth = 0;
  /// What it occupies until it has left, by number; equal if that is one thing.
  std::array<int64_t, 2> ways = {0, 0};

  /// For how long a message of \p bytes occupies its ways.
  double getMessageTime(double bytes) const {
    return bandwidth > 0 ? bytes / bandwidth : 0;
  }
};

/// The links between ranks that run on devices of a topology.
class RankLinks {
public:
  /// Rank r is on \p devices[r]. Times are in units of \p secondsPerUnit.
  RankLinks(Topology topology, std::vector<int64_t> devices,
            double secondsPerUnit = 1)
      : topology(std::move(topology)), devices(std::move(devices)),
        secondsPerUnit(secondsPerUnit) {}

  RankLink get(int64_t from, int64_t to) const;
  /// Whether messages of different ranks may share a way.
  bool areShared() const;

  const Topology &getTopology() const { return topology; }
  llvm::ArrayRef<int64_t> getDevices() const { return devices; }

private:
  Topology topology;
  std::vector<int64_t> devices;
  double secondsPerUnit;
};

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_RANKLINKS_H
