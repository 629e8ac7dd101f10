//===- Topology.h - Nodes, devices and the links between them ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The machine that the ranks of a pipeline run on. A message takes the latency
// of its link and its bytes over the bandwidth (Hockney, Parallel Computing
// 1994, doi:10.1016/S0167-8191(06)80021-9); messages that share a link follow
// each other. It includes no MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_TOPOLOGY_H
#define PIPEWRIGHT_COST_TOPOLOGY_H

#include "pipewright/Cost/Device.h"

#include <optional>

namespace pipewright {

/// What the messages over links of one class have to share.
enum class LinkSharing {
  /// Nothing: each ordered pair of devices has a link of its own.
  Pair,
  /// Each device has one way out and one way in.
  Device,
  /// Each node has one way out and one way in, as by a single network card.
  Node
};

/// Links of one kind. A message occupies its link, or the ways that it shares,
/// for its bytes over the bandwidth, and is there a latency later.
struct LinkClass {
  std::string name;
  double latencySeconds = 0;
  /// In each direction; above 0.
  double bytesPerSecond = 1;
  LinkSharing sharing = LinkSharing::Pair;
  /// Where the figures come from.
  std::string source = {};

  /// How long a message takes that waits for nothing.
  double seconds(double bytes) const {
    return latencySeconds + bytes / bytesPerSecond;
  }
};

class Topology {
public:
  /// Devices are numbered over all nodes, node by node.
  struct Place {
    int64_t node;
    /// The number of the device in its node.
    int64_t slot;
    /// Its index in the kinds of devices.
    int64_t kind;
  };
  /// One device, or all of a node.
  struct Selector {
    int64_t node;
    std::optional<int64_t> slot = std::nullopt;
  };

  std::string name, description;

  /// Each returns the index by which the others refer to what was added. A
  /// device is loaded again by its \p origin, a name or a file.
  int64_t addKind(Device device, llvm::StringRef origin = "");
  int64_t addLink(LinkClass link);
  /// A node with one device of each of \p kinds, joined by links of class
  /// \p inside, which a node of one device does without. \p host is what the
  /// network calls it; empty: not known.
  int64_t addNode(llvm::ArrayRef<int64_t> kinds, int64_t inside,
                  llvm::StringRef host = "");
  /// The class of the links between nodes.
  void setBetween(int64_t link) { between = link; }
  /// Messages from \p from to \p to take links of class \p link, whatever was
  /// said of them before.
  void addOverride(const Selector &from, const Selector &to, int64_t link);

  int64_t getDevices() const { return places.size(); }
  int64_t getNodes() const { return nodes.size(); }
  /// Devices of \p node, the first of which is the returned one.
  int64_t getDevices(int64_t node) const { return nodes[node].devices; }
  int64_t getFirstDevice(int64_t node) const { return nodes[node].first; }
  llvm::StringRef getHost(int64_t node) const { return nodes[node].host; }
  const Place &getPlace(int64_t device) const { return places[device]; }
  llvm::ArrayRef<Device> getKinds() const { return kinds; }
  llvm::StringRef getOrigin(int64_t kind) const { return origins[kind]; }
  llvm::ArrayRef<LinkClass> getLinks() const { return links; }
  llvm::MutableArrayRef<LinkClass> getLinks() { return links; }

  /// The class of the link from one device to another.
  int64_t getLinkIndex(int64_t from, int64_t to) const;
  const LinkClass &getLink(int64_t from, int64_t to) const {
    return links[getLinkIndex(from, to)];
  }
  /// The link from a rank of the first pipeline to its \p replica, if the first
  /// has \p ranks and those after it follow on the devices; nothing if there
  /// are too few. All ranks of a node whose replica is on another one send at
  /// the same time.
  std::optional<LinkClass> getLinkToReplica(int64_t ranks,
                                            int64_t replica) const;
  /// What a message from one device to another occupies: the way out and the
  /// way in, by numbers that tell them from all others. They are equal where
  /// the pair has a link of its own.
  std::array<int64_t, 2> getWays(int64_t from, int64_t to) const;

  /// Sets of devices that may be exchanged for each other without any change:
  /// those of one kind in one node, or each alone in its node, that no override
  /// tells apart.
  std::vector<std::vector<int64_t>> groupDevices() const;

  /// "node 0 device 3 (h100)".
  std::string describe(int64_t device) const;

private:
  struct Node {
    int64_t first, devices, inside;
    std::string host;
  };
  struct Override {
    Selector from, to;
    int64_t link;
  };
  bool selects(const Selector &selector, int64_t device) const {
    const Place &place = places[device];
    return selector.node == place.node &&
           (!selector.slot || *selector.slot == place.slot);
  }

  std::vector<Device> kinds;
  std::vector<std::string> origins;
  std::vector<LinkClass> links;
  std::vector<Node> nodes;
  std::vector<Place> places;
  std::vector<Override> overrides;
  int64_t between = -1;
};

/// The names of the topologies that come with the program, sorted.
llvm::ArrayRef<llvm::StringRef> getTopologyNames();

/// The topology that is meant by \p nameOrFile: one that comes with the
/// program, or a file that ends in `.json` or `.toml`; docs/Topology.md tells
/// its keys. The error names the file and the key that is missing, unknown or
/// wrong.
llvm::Expected<Topology> loadTopology(llvm::StringRef nameOrFile);

} // namespace pipewright

#endif // PIPEWRIGHT_COST_TOPOLOGY_H
