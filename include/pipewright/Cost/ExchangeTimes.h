//===- ExchangeTimes.h - How long replicas exchange rows ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_EXCHANGETIMES_H
#define PIPEWRIGHT_COST_EXCHANGETIMES_H

#include "pipewright/Cost/Profile.h"
#include "pipewright/Cost/Topology.h"
#include "pipewright/Dialect/PP/PP.h"

namespace pipewright {

class ExchangeTimes {
public:
  ExchangeTimes() = default;
  /// Between pipelines of \p ranks on consecutive devices of \p topology, or
  /// over a link as \p profile has it where there are no such devices. Without
  /// either, exchanges take no time.
  ExchangeTimes(std::optional<Topology> topology, const Profile *profile,
                int64_t ranks);

  /// A replica sends each of the others its block: the largest of the latencies
  /// and the sum of the blocks over their bandwidths.
  double getSeconds(pp::ExchangedOp exchange) const;

private:
  LinkClass getLink(int64_t replica) const;

  std::optional<Topology> topology;
  LinkClass measured = {"", /*latencySeconds=*/0, /*bytesPerSecond=*/0};
  int64_t ranks = 1;
};

} // namespace pipewright

#endif // PIPEWRIGHT_COST_EXCHANGETIMES_H
