//===- RankOrderTests.cpp - Orders of ranks against all orders
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/RankOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <chrono>
#include <numeric>
#include <random>

using namespace llvm;
using namespace pipewright;

namespace {
/// Problems of a few devices with links and traffic that differ.
class RandomProblems {
public:
  explicit RandomProblems(unsigned seed) : random(seed) {}

  int64_t draw(int64_t low, int64_t high) {
    return low + random() % (high - low + 1);
  }

  Topology makeTopology() {
    Topology topology;
    int64_t kinds = draw(1, 2), links = draw(2, 4);
    for (int64_t kind = 0; kind < kinds; ++kind)
      topology.addKind({});
    for (int64_t link = 0; link < links; ++link) {
      LinkClass made;
      made.latencySeconds = draw(0, 5);
      made.bytesPerSecond = draw(1, 20);
      topology.addLink(made);
    }
    topology.setBetween(draw(0, links - 1));
    int64_t nodes = draw(1, 4);
    for (int64_t node = 0; node < nodes; ++node) {
      SmallVector<int64_t> devices;
      for (int64_t slot = draw(1, nodes > 2 ? 2 : 4); slot > 0; --slot)
        devices.push_back(draw(0, kinds - 1));
      topology.addNode(devices, draw(0, links - 1));
    }
    for (int64_t count = draw(0, 3); count > 0; --count)
      topology.addOverride(select(topology), select(topology),
                           draw(0, links - 1));
    return topology;
  }

  /// What ranks send in a line, in a ring, or to any others.
  enum class Shape { Line, Ring, Any };

  RankOrderProblem makeProblem(const Topology &topology, Shape shape) {
    RankOrderProblem problem{topology};
    problem.ranks = draw(1, topology.getDevices());
    auto add = [&](int64_t from, int64_t to) {
      double messages = draw(1, 3);
      problem.traffic.push_back({from, to, messages, messages * draw(1, 50)});
    };
    for (int64_t from = 0; from < problem.ranks; ++from)
      for (int64_t to = 0; to < problem.ranks; ++to) {
        int64_t distance = std::abs(from - to);
        bool isNear = distance == 1 ||
                      (shape == Shape::Ring && distance == problem.ranks - 1);
        if (shape == Shape::Any ? draw(0, 2) == 0 : isNear)
          if (from != to)
            add(from, to);
      }
    if (draw(0, 1))
      for (size_t kind = 0; kind < topology.getKinds().size(); ++kind)
        problem.kindSeconds.push_back(draw(0, 30));
    return problem;
  }

private:
  Topology::Selector select(const Topology &topology) {
    int64_t node = draw(0, topology.getNodes() - 1);
    if (draw(0, 1))
      return {node};
    return {node, draw(0, topology.getDevices(node) - 1)};
  }

  std::mt19937 random;
};
} // namespace

/// By the definition, link by link.
static double addUp(const RankOrderProblem &problem,
                    ArrayRef<int64_t> devices) {
  double total = 0;
  if (!problem.kindSeconds.empty())
    for (int64_t rank = 0; rank < problem.ranks; ++rank)
      total +=
          problem.kindSeconds[problem.topology.getPlace(devices[rank]).kind];
  for (const RankTraffic &traffic : problem.traffic) {
    const LinkClass &link =
        problem.topology.getLink(devices[traffic.from], devices[traffic.to]);
    total += traffic.messages * link.latencySeconds +
             traffic.bytes / link.bytesPerSecond;
  }
  return total;
}

/// The least total of all ways to choose devices in order.
static double tryAll(const RankOrderProblem &problem) {
  std::vector<int64_t> devices(problem.topology.getDevices());
  std::iota(devices.begin(), devices.end(), 0);
  double least = INFINITY;
  do
    least = std::min(least, addUp(problem, devices));
  while (std::next_permutation(devices.begin(), devices.end()));
  return least;
}

static void expectDistinct(const RankOrder &order, const Topology &topology) {
  std::vector<int64_t> devices = order.devices;
  llvm::sort(devices);
  EXPECT_TRUE(llvm::unique(devices) == devices.end());
  EXPECT_TRUE(all_of(devices, [&](int64_t device) {
    return device >= 0 && device < topology.getDevices();
  }));
}

TEST(RankOrder, IsTheBestOfAllForLinesAndRings) {
  RandomProblems problems(/*seed=*/1);
  for (int trial = 0; trial < 1500; ++trial) {
    Topology topology = problems.makeTopology();
    RankOrderProblem problem =
        problems.makeProblem(topology, trial % 2 ? RandomProblems::Shape::Ring
                                                 : RandomProblems::Shape::Line);
    RankOrder order = cantFail(orderRanks(problem));
    ASSERT_EQ(static_cast<int64_t>(order.devices.size()), problem.ranks);
    expectDistinct(order, topology);
    double least = tryAll(problem);
    EXPECT_NEAR(order.seconds, least, 1e-9 * least) << trial;
    EXPECT_NEAR(addUp(problem, order.devices), least, 1e-9 * least) << trial;
    EXPECT_NEAR(getOrderSeconds(problem, order.devices), least, 1e-9 * least);
    EXPECT_TRUE(order.isOptimal) << trial;
  }
}

TEST(RankOrder, IsNotBelowItsBoundForAnyTraffic) {
  RandomProblems problems(/*seed=*/2);
  int best = 0, proven = 0;
  constexpr int trials = 500;
  for (int trial = 0; trial < trials; ++trial) {
    Topology topology = problems.makeTopology();
    RankOrderProblem problem =
        problems.makeProblem(topology, RandomProblems::Shape::Any);
    RankOrder order = cantFail(orderRanks(problem));
    expectDistinct(order, topology);
    double least = tryAll(problem), margin = 1e-9 * least;
    EXPECT_NEAR(addUp(problem, order.devices), order.seconds, margin);
    EXPECT_GE(order.seconds, least - margin) << trial;
    EXPECT_LE(order.bound, least + margin) << trial;
    bool isBest = order.seconds <= least + margin;
    EXPECT_TRUE(isBest || !order.isOptimal) << trial;
    best += isBest;
    proven += order.isOptimal;
  }
  // It is a search, but not one that often misses what is so small.
  EXPECT_GT(best, trials * 95 / 100);
  EXPECT_GT(proven, trials / 10);
}

/// So many nodes of \p devices devices, all alike.
static Topology makeCluster(int64_t nodes, int64_t devices) {
  Topology topology;
  int64_t kind = topology.addKind({});
  LinkClass fast, slow;
  fast.name = "fast";
  fast.bytesPerSecond = 10;
  slow.name = "slow";
  slow.bytesPerSecond = 1;
  int64_t inside = topology.addLink(fast);
  topology.setBetween(topology.addLink(slow));
  for (int64_t node = 0; node < nodes; ++node)
    topology.addNode(SmallVector<int64_t>(devices, kind), inside);
  return topology;
}

static RankOrderProblem makeLine(const Topology &topology, int64_t ranks) {
  RankOrderProblem problem{topology, ranks};
  for (int64_t rank = 0; rank + 1 < ranks; ++rank) {
    problem.traffic.push_back({rank, rank + 1, 1, 10});
    problem.traffic.push_back({rank + 1, rank, 1, 10});
  }
  return problem;
}

TEST(RankOrder, LeavesDevicesInTheirOwnOrder) {
  Topology topology = makeCluster(/*nodes=*/2, /*devices=*/4);
  RankOrder order = cantFail(orderRanks(makeLine(topology, 8)));
  EXPECT_EQ(order.devices, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(order.isOptimal);
}

TEST(RankOrder, ShowsWhatCrossesSlowLinks) {
  Topology topology = makeCluster(/*nodes=*/3, /*devices=*/4);
  RankOrderProblem problem = makeLine(topology, 9);
  RankOrder order = cantFail(orderRanks(problem));
  std::vector<SlowCrossing> crossings =
      listSlowCrossings(problem, order.devices);
  ASSERT_EQ(crossings.size(), 2u);
  EXPECT_EQ(crossings[0].first, 3);
  EXPECT_EQ(crossings[0].second, 4);
  EXPECT_EQ(topology.getLinks()[crossings[0].link].name, "slow");
  EXPECT_EQ(crossings[1].first, 7);
  EXPECT_TRUE(listSlowCrossings(makeLine(topology, 4), order.devices).empty());
}

TEST(RankOrder, KeepsSlowDevicesOutOfUse) {
  Topology topology;
  int64_t slow = topology.addKind({}), fast = topology.addKind({});
  int64_t link = topology.addLink({});
  topology.addNode({slow, fast, slow, fast}, link);
  RankOrderProblem problem = makeLine(topology, 2);
  problem.kindSeconds = {5, 1};
  RankOrder order = cantFail(orderRanks(problem));
  EXPECT_EQ(order.devices, (std::vector<int64_t>{1, 3}));
}

TEST(RankOrder, IsProvenForLargeClusters) {
  auto start = std::chrono::steady_clock::now();
  Topology topology = makeCluster(/*nodes=*/128, /*devices=*/8);
  RankOrderProblem problem = makeLine(topology, 1024);
  RankOrder order = cantFail(orderRanks(problem));
  EXPECT_TRUE(order.isOptimal);
  EXPECT_EQ(listSlowCrossings(problem, order.devices).size(), 127u);
  // The stages' loop goes back to the first rank: one crossing more.
  problem.traffic.push_back({1023, 0, 1, 10});
  problem.traffic.push_back({0, 1023, 1, 10});
  order = cantFail(orderRanks(problem));
  EXPECT_TRUE(order.isOptimal);
  EXPECT_EQ(listSlowCrossings(problem, order.devices).size(), 128u);
  std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - start;
  EXPECT_LT(passed.count(), 10);
}

TEST(RankOrder, RefusesMoreRanksThanDevices) {
  Topology topology = makeCluster(/*nodes=*/1, /*devices=*/2);
  topology.name = "small";
  Expected<RankOrder> order = orderRanks(makeLine(topology, 3));
  ASSERT_FALSE(bool(order));
  EXPECT_EQ(toString(order.takeError()),
            "the topology 'small' has 2 devices for 3 ranks");
}
