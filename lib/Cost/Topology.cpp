//===- Topology.cpp - Nodes, devices and the links between them
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/Topology.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cassert>
#include <map>

using namespace llvm;
using namespace pipewright;

int64_t Topology::addKind(Device device, StringRef origin) {
  kinds.push_back(std::move(device));
  origins.push_back(origin.str());
  return kinds.size() - 1;
}

int64_t Topology::addLink(LinkClass link) {
  links.push_back(std::move(link));
  return links.size() - 1;
}

int64_t Topology::addNode(ArrayRef<int64_t> kindsOfDevices, int64_t inside,
                          StringRef host) {
  int64_t node = nodes.size();
  nodes.push_back({getDevices(), static_cast<int64_t>(kindsOfDevices.size()),
                   inside, host.str()});
  for (auto [slot, kind] : enumerate(kindsOfDevices))
    places.push_back({node, static_cast<int64_t>(slot), kind});
  return node;
}

void Topology::addOverride(const Selector &from, const Selector &to,
                           int64_t link) {
  overrides.push_back({from, to, link});
}

int64_t Topology::getLinkIndex(int64_t from, int64_t to) const {
  for (const Override &entry : reverse(overrides))
    if (selects(entry.from, from) && selects(entry.to, to))
      return entry.link;
  int64_t node = places[from].node;
  int64_t link = node == places[to].node ? nodes[node].inside : between;
  assert(link >= 0 && "nothing joins the devices");
  return link;
}

std::optional<LinkClass> Topology::getLinkToReplica(int64_t ranks,
                                                    int64_t replica) const {
  if (ranks * replica >= getDevices())
    return std::nullopt;
  LinkClass link = getLink(0, ranks * replica);
  if (link.sharing == LinkSharing::Node)
    link.bytesPerSecond /= std::min(ranks * replica, getDevices(/*node=*/0));
  return link;
}

std::array<int64_t, 2> Topology::getWays(int64_t from, int64_t to) const {
  int64_t link = getLinkIndex(from, to);
  // No owner's number is above that of the last pair.
  int64_t owners = getDevices() * getDevices();
  auto number = [&](bool isIn, int64_t owner) {
    return (2 * link + isIn) * owners + owner;
  };
  switch (links[link].sharing) {
  case LinkSharing::Pair: {
    int64_t way = number(/*isIn=*/false, from * getDevices() + to);
    return {way, way};
  }
  case LinkSharing::Device:
    return {number(/*isIn=*/false, from), number(/*isIn=*/true, to)};
  case LinkSharing::Node:
    return {number(/*isIn=*/false, places[from].node),
            number(/*isIn=*/true, places[to].node)};
  }
  llvm_unreachable("all ways of sharing are handled");
}

std::vector<std::vector<int64_t>> Topology::groupDevices() const {
  auto isNamed = [&](const Selector &selector, int64_t device) {
    bool isOfMany = nodes[places[device].node].devices > 1;
    return selects(selector, device) && (selector.slot || !isOfMany);
  };
  std::vector<std::vector<int64_t>> groups;
  std::map<std::pair<int64_t, int64_t>, size_t> groupOf;
  for (int64_t device = 0; device < getDevices(); ++device) {
    const Place &place = places[device];
    if (any_of(overrides, [&](const Override &entry) {
          return isNamed(entry.from, device) || isNamed(entry.to, device);
        })) {
      groups.push_back({device});
      continue;
    }
    bool isAlone = nodes[place.node].devices == 1;
    auto [found, isNew] = groupOf.try_emplace(
        {isAlone ? -1 : place.node, place.kind}, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[found->second].push_back(device);
  }
  return groups;
}

std::string Topology::describe(int64_t device) const {
  const Place &place = places[device];
  return formatv("node {0} device {1} ({2})", place.node, place.slot,
                 kinds[place.kind].name)
      .str();
}
