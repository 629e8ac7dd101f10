//===- ExchangeTimes.cpp - How long replicas exchange rows
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/ExchangeTimes.h"

using namespace mlir;
using namespace pipewright;

ExchangeTimes::ExchangeTimes(std::optional<Topology> topology,
                             const Profile *profile, int64_t ranks)
    : topology(std::move(topology)), ranks(ranks) {
  const MeasuredLink *link = profile ? profile->getTypicalLink() : nullptr;
  if (!link)
    return;
  measured.latencySeconds = link->latencySeconds;
  measured.bytesPerSecond = link->bytesPerSecond;
}

LinkClass ExchangeTimes::getLink(int64_t replica) const {
  std::optional<LinkClass> link;
  if (topology)
    link = topology->getLinkToReplica(ranks, replica);
  return link.value_or(measured);
}

double ExchangeTimes::getSeconds(pp::ExchangedOp exchange) const {
  int64_t peers = exchange.getPeers();
  double blockBytes = pp::getBytes(exchange.getType()) / peers;
  double latency = 0, moving = 0;
  for (int64_t peer = 1; peer < peers; ++peer) {
    LinkClass link = getLink(peer);
    latency = std::max(latency, link.latencySeconds);
    if (link.bytesPerSecond > 0)
      moving += blockBytes / link.bytesPerSecond;
  }
  return latency + moving;
}
