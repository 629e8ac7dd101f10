//===- TopologyTests.cpp - Nodes, devices and the links between them
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/Topology.h"

#include "pipewright/Cost/MeasuredTopology.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace pipewright;

static LinkClass makeLink(StringRef name, LinkSharing sharing) {
  LinkClass link;
  link.name = name.str();
  link.latencySeconds = 0.5;
  link.bytesPerSecond = 4;
  link.sharing = sharing;
  return link;
}

/// Two nodes of three devices of kinds 0, 0 and 1.
static Topology makeTwoNodes(LinkSharing inside, LinkSharing between) {
  Topology topology;
  int64_t first = topology.addKind({}), second = topology.addKind({});
  int64_t fast = topology.addLink(makeLink("fast", inside));
  topology.setBetween(topology.addLink(makeLink("slow", between)));
  for (int node = 0; node < 2; ++node)
    topology.addNode({first, first, second}, fast);
  return topology;
}

TEST(Topology, JoinsDevicesByTheirNodes) {
  Topology topology = makeTwoNodes(LinkSharing::Pair, LinkSharing::Pair);
  EXPECT_EQ(topology.getDevices(), 6);
  EXPECT_EQ(topology.getFirstDevice(1), 3);
  EXPECT_EQ(topology.getPlace(5).node, 1);
  EXPECT_EQ(topology.getPlace(5).slot, 2);
  EXPECT_EQ(topology.getPlace(5).kind, 1);
  EXPECT_EQ(topology.getLink(0, 2).name, "fast");
  EXPECT_EQ(topology.getLink(2, 3).name, "slow");
  EXPECT_DOUBLE_EQ(topology.getLink(2, 3).seconds(10), 3);
}

TEST(Topology, TakesTheLastOverrideInItsDirection) {
  Topology topology = makeTwoNodes(LinkSharing::Pair, LinkSharing::Pair);
  int64_t other = topology.addLink(makeLink("other", LinkSharing::Pair));
  int64_t last = topology.addLink(makeLink("last", LinkSharing::Pair));
  topology.addOverride({0, 1}, {1, 2}, last);
  topology.addOverride({0}, {1}, other);
  EXPECT_EQ(topology.getLink(1, 5).name, "other");
  topology.addOverride({0, 1}, {1, 2}, last);
  EXPECT_EQ(topology.getLink(1, 5).name, "last");
  EXPECT_EQ(topology.getLink(0, 5).name, "other");
  EXPECT_EQ(topology.getLink(5, 1).name, "slow");
}

TEST(Topology, SharesWaysOutAndIn) {
  using Ways = std::array<int64_t, 2>;
  Topology topology = makeTwoNodes(LinkSharing::Device, LinkSharing::Node);
  auto out = [&](int from, int to) { return topology.getWays(from, to)[0]; };
  auto in = [&](int from, int to) { return topology.getWays(from, to)[1]; };
  EXPECT_EQ(out(0, 1), out(0, 2));
  EXPECT_NE(out(0, 1), out(1, 0));
  EXPECT_EQ(in(0, 1), in(2, 1));
  EXPECT_NE(in(0, 1), out(1, 0));
  // One network card for a node, for each way.
  EXPECT_EQ(topology.getWays(0, 3), topology.getWays(2, 5));
  EXPECT_NE(out(0, 3), in(3, 0));
  EXPECT_NE(out(0, 3), out(3, 0));
  // The cards are not the links inside.
  EXPECT_NE(out(0, 3), out(0, 1));

  Topology pairs = makeTwoNodes(LinkSharing::Pair, LinkSharing::Pair);
  std::set<Ways> ways;
  for (int64_t from = 0; from < 6; ++from)
    for (int64_t to = 0; to < 6; ++to)
      if (from != to)
        EXPECT_TRUE(ways.insert(pairs.getWays(from, to)).second);
}

TEST(Topology, JoinsReplicas) {
  Topology topology = makeTwoNodes(LinkSharing::Pair, LinkSharing::Node);
  auto getLink = [&](int64_t ranks, int64_t replica) {
    return *topology.getLinkToReplica(ranks, replica);
  };
  EXPECT_EQ(getLink(2, 1).name, "fast");
  EXPECT_EQ(getLink(2, 1).bytesPerSecond, 4);
  // Three ranks leave the first node at once.
  EXPECT_EQ(getLink(2, 2).name, "slow");
  EXPECT_DOUBLE_EQ(getLink(2, 2).bytesPerSecond, 4. / 3);
  EXPECT_DOUBLE_EQ(getLink(3, 1).bytesPerSecond, 4. / 3);
  EXPECT_FALSE(topology.getLinkToReplica(2, 3));
  EXPECT_FALSE(topology.getLinkToReplica(6, 1));
}

TEST(Topology, GroupsDevicesThatNothingTellsApart) {
  using Groups = std::vector<std::vector<int64_t>>;
  Topology topology = makeTwoNodes(LinkSharing::Pair, LinkSharing::Pair);
  EXPECT_EQ(topology.groupDevices(), (Groups{{0, 1}, {2}, {3, 4}, {5}}));
  // An override of nodes concerns all of their devices alike.
  topology.addOverride({0}, {1}, 0);
  EXPECT_EQ(topology.groupDevices(), (Groups{{0, 1}, {2}, {3, 4}, {5}}));
  topology.addOverride({1, 0}, {0}, 0);
  EXPECT_EQ(topology.groupDevices(), (Groups{{0, 1}, {2}, {3}, {4}, {5}}));

  Topology alone;
  int64_t kind = alone.addKind({});
  alone.setBetween(alone.addLink(makeLink("net", LinkSharing::Pair)));
  for (int node = 0; node < 4; ++node)
    alone.addNode({kind}, -1);
  EXPECT_EQ(alone.groupDevices(), (Groups{{0, 1, 2, 3}}));
  alone.addOverride({2}, {0}, 0);
  EXPECT_EQ(alone.groupDevices(), (Groups{{0}, {1, 3}, {2}}));
}

TEST(Topology, ComesWithWhatItsFilesSay) {
  EXPECT_TRUE(is_sorted(getTopologyNames()));
  for (StringRef name : getTopologyNames()) {
    Expected<Topology> topology = loadTopology(name);
    ASSERT_TRUE(bool(topology)) << toString(topology.takeError());
    EXPECT_EQ(topology->name, name);
    EXPECT_FALSE(topology->description.empty()) << name.str();
    for (const LinkClass &link : topology->getLinks())
      EXPECT_FALSE(link.source.empty()) << name.str();
  }
}

// NVIDIA's datasheets: 900 GB/s of NVLink in both directions, 400 Gb/s for each
// GPU, 8 of them in a system.
TEST(Topology, HasTheFiguresOfTheDatasheet) {
  Topology topology = cantFail(loadTopology("dgx-h100"));
  EXPECT_EQ(topology.getDevices(0), 8);
  EXPECT_EQ(topology.describe(13), "node 1 device 5 (h100)");
  EXPECT_EQ(topology.getLink(0, 7).bytesPerSecond * 2, 900e9);
  EXPECT_EQ(topology.getLink(0, 8).bytesPerSecond * 8, 400e9);
}

namespace {
class TopologyFile : public testing::Test {
protected:
  TopologyFile() {
    cantFail(errorCodeToError(
        sys::fs::createUniqueDirectory("pipewright-topology", folder)));
  }
  ~TopologyFile() override { sys::fs::remove_directories(folder); }

  std::string write(StringRef name, StringRef text) {
    std::string path = (folder + "/" + name).str();
    std::error_code error;
    raw_fd_ostream(path, error) << text;
    return path;
  }

  /// The error that reading \p text gives, without the folder's name; "" if it
  /// is read.
  std::string getError(StringRef text) {
    Expected<Topology> read = loadTopology(write("mine.toml", text));
    if (read) {
      topology = std::move(*read);
      return "";
    }
    std::string message = toString(read.takeError());
    for (size_t at;
         (at = message.find(folder.str().str())) != std::string::npos;)
      message.erase(at, folder.size() + 1);
    return message;
  }

  SmallString<64> folder;
  Topology topology;
};
} // namespace

static constexpr StringLiteral head = "name = 'mine'\nbetween = 'net'\n";
static constexpr StringLiteral links =
    "[links.bus]\nlatency_seconds = 1e-6\nbytes_per_second = 2e9\n"
    "shared_by = 'node'\n"
    "[links.net]\nlatency_seconds = 0\nbytes_per_second = 1e9\n";
static constexpr StringLiteral nodes =
    "[[nodes]]\ncount = 2\ninside = 'bus'\n"
    "devices = [{device = 'cpu', count = 2}, {device = 'a100'}]\n";

TEST_F(TopologyFile, IsRead) {
  std::string text =
      (head + links + nodes +
       "[[overrides]]\nfrom = {node = 0, device = 2}\nto = {node = 1}\n"
       "link = 'bus'\n")
          .str();
  ASSERT_EQ(getError(text), "");
  EXPECT_EQ(topology.getNodes(), 2);
  EXPECT_EQ(topology.describe(5), "node 1 device 2 (a100)");
  EXPECT_EQ(topology.getLink(0, 1).name, "bus");
  EXPECT_EQ(topology.getLink(0, 1).sharing, LinkSharing::Node);
  EXPECT_EQ(topology.getLink(0, 3).sharing, LinkSharing::Pair);
  EXPECT_EQ(topology.getLink(2, 3).name, "bus");
  EXPECT_EQ(topology.getLink(3, 2).name, "net");
}

TEST_F(TopologyFile, HasTheNamesOfNodes) {
  std::string text = (head + links +
                      "[[nodes]]\nhosts = ['left', 'right']\n"
                      "devices = [{device = 'cpu'}]\n"
                      "[[nodes]]\ndevices = [{device = 'cpu'}]\n")
                         .str();
  ASSERT_EQ(getError(text), "");
  ASSERT_EQ(topology.getNodes(), 3);
  EXPECT_EQ(topology.getHost(1), "right");
  EXPECT_EQ(topology.getHost(2), "");
}

TEST_F(TopologyFile, TakesLinksFromAProfileBesideIt) {
  write("links.json",
        R"({"format_version": 2, "tool_version": "0.1", "date": "", "model": "",
 "model_sha256": "", "bindings": {}, "inputs": {}, "microbatch_size": 1,
 "precision": "", "loss": "", "forward_only": false, "ranks": 1, "device": "",
 "target": "cpu", "target_cpu": "native", "layers": [], "updates": [],
 "hosts": ["a", "b"], "links": [{"ranks": [0, 1], "latency_seconds": 3,
 "bytes_per_second": 5, "points": []}]})");
  std::string text =
      "name = 'mine'\n[links.bus]\nprofile = 'links.json'\n[[nodes]]\n"
      "inside = 'bus'\ndevices = [{device = 'cpu', count = 2}]\n";
  ASSERT_EQ(getError(text), "");
  EXPECT_EQ(topology.getLink(0, 1).latencySeconds, 3);
  EXPECT_EQ(topology.getLink(0, 1).bytesPerSecond, 5);
  EXPECT_EQ(topology.getLink(0, 1).source, "measured: links.json");
}

TEST_F(TopologyFile, IsMadeOfMeasuredPairs) {
  Profile profile;
  profile.hosts = {"left", "right", "left"};
  profile.links.push_back({{0, 1}, 3e-6, 1e9, {}});
  profile.links.push_back({{0, 2}, 1e-6, 4e9, {}});
  profile.links.push_back({{1, 2}, 2e-6, 2e9, {}});
  std::string path =
      write("measured.json",
            formatv("{0:2}", makeTopologyTable(profile, "cpu")).str());
  topology = cantFail(loadTopology(path));
  ASSERT_EQ(topology.getNodes(), 2);
  EXPECT_EQ(topology.getHost(0), "left");
  EXPECT_EQ(topology.getDevices(0), 2);
  // Ranks 0 and 2, then rank 1.
  EXPECT_EQ(topology.getLink(0, 1).bytesPerSecond, 4e9);
  EXPECT_EQ(topology.getLink(1, 0).bytesPerSecond, 4e9);
  EXPECT_EQ(topology.getLink(0, 2).bytesPerSecond, 1e9);
  EXPECT_EQ(topology.getLink(2, 1).latencySeconds, 2e-6);
}

TEST_F(TopologyFile, NamesFileAndKeyOfAFault) {
  EXPECT_EQ(getError((head + links).str()), "is missing at mine.toml.nodes");
  EXPECT_EQ(getError(("name = 'mine'\n" + links + nodes).str()),
            "is missing: what joins the nodes at mine.toml.between");
  EXPECT_EQ(getError(("name = 'mine'\nbetween = 'x'\n" + links + nodes).str()),
            "is not the name of one of the links at mine.toml.between");
  EXPECT_EQ(getError((head + links + "[[nodes]]\ndevices = []\n").str()),
            "expected a list that is not empty at mine.toml.nodes[0].devices");
  EXPECT_EQ(
      getError((head + links + nodes +
                "[[nodes]]\ndevices = "
                "[{device = 'cpu', count = 2}]\n")
                   .str()),
      "is missing: what joins the node's devices at mine.toml.nodes[1].inside");
  EXPECT_EQ(getError((head + links +
                      "[[nodes]]\ndevices = "
                      "[{device = 'cpu', count = 0}]\n")
                         .str()),
            "must be from 1 to 8192 at mine.toml.nodes[0].devices[0].count");
  EXPECT_EQ(getError((head + links +
                      "[[nodes]]\ninside = 'bus'\ncount = 8192\n"
                      "devices = [{device = 'cpu', count = 2}]\n")
                         .str()),
            "makes more than 8192 devices at mine.toml.nodes[0]");
  EXPECT_EQ(getError((head + links + nodes + "hosts = ['a', 'b']\n").str()),
            "has both a count and hosts, which tell it at mine.toml.nodes[0]");
  EXPECT_EQ(getError((head + links +
                      "[[nodes]]\nhosts = ['a', '']\n"
                      "devices = [{device = 'cpu'}]\n")
                         .str()),
            "expected a text at mine.toml.nodes[0].hosts[1]");
  EXPECT_EQ(getError((head + links + "shared_by = 'all'\n" + nodes).str()),
            "must be pair, device or node at mine.toml.links.net.shared_by");
  EXPECT_EQ(getError((head + links + "speed = 1\n" + nodes).str()),
            "is not a key that is known at mine.toml.links.net.speed");
  EXPECT_EQ(
      getError(
          (head + links + "[links.x]\nlatency_seconds = 1\n" + nodes).str()),
      "is missing at mine.toml.links.x.bytes_per_second");
  EXPECT_EQ(getError((head + links + "profile = 'x.json'\n" + nodes).str()),
            "has both figures and a profile that tells them at "
            "mine.toml.links.net");
}

TEST_F(TopologyFile, SaysWhatIsWrongWithAnotherFile) {
  EXPECT_EQ(getError((head + links +
                      "[[nodes]]\ndevices = "
                      "[{device = 'h1000'}]\n")
                         .str()),
            "there is no device 'h1000'; expected a100, b200, cpu, h100, h200, "
            "or a .json or .toml file; is wrong at "
            "mine.toml.nodes[0].devices[0].device");
  EXPECT_EQ(
      getError((head + "[links.net]\nprofile = 'x.json'\n" + nodes).str()),
      "x.json: No such file or directory; is wrong at "
      "mine.toml.links.net.profile");
}

TEST_F(TopologyFile, OverridesOnlyWhatThereIs) {
  auto getFault = [&](StringRef from, StringRef to, StringRef link) {
    return getError((head + links + nodes + "[[overrides]]\nfrom = " + from +
                     "\nto = " + to + "\nlink = '" + link + "'\n")
                        .str());
  };
  EXPECT_EQ(getFault("{node = 2}", "{node = 1}", "bus"),
            "is not the number of a node, from 0 at "
            "mine.toml.overrides[0].from.node");
  EXPECT_EQ(getFault("{node = 1}", "{node = 1, device = 3}", "bus"),
            "is not the number of a device of the node, from 0 at "
            "mine.toml.overrides[0].to.device");
  EXPECT_EQ(getFault("{node = 1}", "{node = 0}", "x"),
            "is not the name of one of the links at "
            "mine.toml.overrides[0].link");
}

TEST_F(TopologyFile, NamesAnUnknownTopology) {
  Expected<Topology> unknown = loadTopology("dgx");
  ASSERT_FALSE(bool(unknown));
  EXPECT_EQ(toString(unknown.takeError()),
            "there is no topology 'dgx'; expected cpu, dgx-a100, dgx-h100, or "
            "a .json or .toml file");
}
