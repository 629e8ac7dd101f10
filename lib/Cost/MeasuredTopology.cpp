//===- MeasuredTopology.cpp - A profile's links as a topology
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/MeasuredTopology.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace pipewright;

namespace {
/// The ranks of a profile as the devices of nodes.
struct RankPlaces {
  struct Place {
    int64_t node, slot;
  };

  explicit RankPlaces(ArrayRef<std::string> hosts) {
    for (const std::string &host : hosts) {
      auto [entry, isNew] = devices.try_emplace(host, 0);
      places.push_back(
          {std::distance(devices.begin(), entry), entry->second++});
    }
  }

  json::Object select(int64_t rank) const {
    return json::Object{{"node", places[rank].node},
                        {"device", places[rank].slot}};
  }
  bool areOnOneHost(const MeasuredLink &link) const {
    return places[link.ranks[0]].node == places[link.ranks[1]].node;
  }

  /// How many ranks each host has.
  MapVector<StringRef, int64_t> devices;
  std::vector<Place> places;
};
} // namespace

static std::string getName(const MeasuredLink &link) {
  return formatv("{0}-{1}", link.ranks[0], link.ranks[1]).str();
}

static json::Object makeLinks(const Profile &profile) {
  json::Object links;
  for (const MeasuredLink &link : profile.links)
    links[getName(link)] =
        json::Object{{"latency_seconds", link.latencySeconds},
                     {"bytes_per_second", link.bytesPerSecond},
                     {"source", "measured " + profile.date}};
  return links;
}

/// The link of a pair of the one or the other kind, which stands for all until
/// overrides tell them apart.
static const MeasuredLink *findLink(const Profile &profile,
                                    const RankPlaces &ranks, bool isOnOneHost) {
  auto found = find_if(profile.links, [&](const MeasuredLink &link) {
    return ranks.areOnOneHost(link) == isOnOneHost;
  });
  return found == profile.links.end() ? nullptr : &*found;
}

json::Value pipewright::makeTopologyTable(const Profile &profile,
                                          StringRef device) {
  RankPlaces ranks(profile.hosts);
  const MeasuredLink *inside = findLink(profile, ranks, /*isOnOneHost=*/true);
  const MeasuredLink *between = findLink(profile, ranks, /*isOnOneHost=*/false);
  json::Array nodes, overrides;
  for (const auto &[host, count] : ranks.devices) {
    json::Object node{{"hosts", json::Array{host}},
                      {"devices", json::Array{json::Object{{"device", device},
                                                           {"count", count}}}}};
    if (inside)
      node["inside"] = getName(*inside);
    nodes.push_back(std::move(node));
  }
  for (const MeasuredLink &link : profile.links)
    for (auto [from, to] : {std::pair(0, 1), std::pair(1, 0)})
      overrides.push_back(json::Object{{"from", ranks.select(link.ranks[from])},
                                       {"to", ranks.select(link.ranks[to])},
                                       {"link", getName(link)}});
  json::Object table{{"name", "measured on " + profile.device},
                     {"links", makeLinks(profile)},
                     {"nodes", std::move(nodes)},
                     {"overrides", std::move(overrides)}};
  if (between)
    table["between"] = getName(*between);
  return table;
}
