//===- PredictedStep.cpp - What a step of a plan will take
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/PredictedStep.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace pipewright;

PlacementSummary pipewright::summarizePlacement(const PlacementTarget &target,
                                                const RankPlacement &placement,
                                                StringRef origin) {
  const Topology &topology = target.topology;
  PlacementSummary summary;
  summary.origin = origin.str();
  summary.name = topology.name;
  summary.isOptimal = placement.order.isOptimal;
  for (auto [device, factor] :
       llvm::zip_equal(placement.order.devices, placement.factors)) {
    const Topology::Place &place = topology.getPlace(device);
    summary.ranks.push_back({place.node, place.slot,
                             topology.getKinds()[place.kind].name,
                             topology.getHost(place.node).str(), factor});
  }
  for (const SlowCrossing &crossing : placement.crossings)
    summary.crossings.push_back({crossing.first, crossing.second,
                                 topology.getLinks()[crossing.link].name});
  return summary;
}

/// "rank 3", "ranks 3-5".
static std::string formatRange(StringRef what, int64_t first, int64_t last) {
  if (first == last)
    return formatv("{0} {1}", what, first).str();
  return formatv("{0}s {1}-{2}", what, first, last).str();
}

/// Whether \p next is the device after \p device.
static bool continues(const DeviceSummary &device, const DeviceSummary &next) {
  return next.node == device.node && next.device == device.device + 1 &&
         next.kind == device.kind;
}

void pipewright::printPlacement(const PlacementSummary &placement,
                                raw_ostream &os) {
  const std::vector<DeviceSummary> &ranks = placement.ranks;
  os << "devices of the topology '" << placement.name << "':\n";
  for (size_t first = 0, last; first < ranks.size(); first = last + 1) {
    last = first;
    while (last + 1 < ranks.size() && continues(ranks[last], ranks[last + 1]))
      ++last;
    os << formatv(
        "  {0} on node {1} {2} ({3})\n", formatRange("rank", first, last),
        ranks[first].node,
        formatRange("device", ranks[first].device, ranks[last].device),
        ranks[first].kind);
  }
  size_t crossings = placement.crossings.size();
  os << formatv("  {0} {1} of slow links", crossings,
                crossings == 1 ? "crossing" : "crossings");
  constexpr size_t mostShown = 8;
  for (size_t i = 0; i < std::min(crossings, mostShown); ++i) {
    const CrossingSummary &crossing = placement.crossings[i];
    os << formatv("{0} ranks {1} and {2} ({3})", i ? "," : ":", crossing.first,
                  crossing.second, crossing.link);
  }
  os << (crossings > mostShown ? ", ...\n" : "\n");
  if (!placement.isOptimal)
    os << "  the order is the best one found; there may be a better one\n";
}

std::string pipewright::makeRankfile(const PlacementSummary &placement) {
  std::string text;
  for (auto [rank, device] : enumerate(placement.ranks)) {
    if (device.host.empty())
      return "";
    text +=
        formatv("rank {0}={1} slot={2}\n", rank, device.host, device.device);
  }
  return text;
}
