//===- RankLinksTests.cpp - Schedules on links that differ
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/RankPlacement.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace pipewright;

static LinkClass makeLink(double latency, double bandwidth,
                          LinkSharing sharing = LinkSharing::Pair) {
  LinkClass link;
  link.latencySeconds = latency;
  link.bytesPerSecond = bandwidth;
  link.sharing = sharing;
  return link;
}

static Topology makeTopology(int64_t nodes, int64_t devices,
                             const LinkClass &inside,
                             const LinkClass &between) {
  Topology topology;
  int64_t kind = topology.addKind({});
  int64_t link = topology.addLink(inside);
  topology.setBetween(topology.addLink(between));
  for (int64_t node = 0; node < nodes; ++node)
    topology.addNode(SmallVector<int64_t>(devices, kind), link);
  return topology;
}

/// All forwards of each rank: stages in its order, micro-batches in theirs.
static Schedule makeForwards(int64_t microbatches,
                             const std::vector<int64_t> &ranks) {
  Schedule schedule({*llvm::max_element(ranks) + 1, microbatches, 1}, {ranks});
  schedule.setForwardOnly();
  std::vector<std::vector<Action>> actions(schedule.getRanks());
  for (int64_t stage = 0; stage < schedule.getStages(); ++stage)
    for (int64_t mb = 0; mb < microbatches; ++mb)
      actions[ranks[stage]].push_back({ActionKind::F, stage, mb});
  for (auto [rank, list] : enumerate(actions))
    schedule.setActions(rank, std::move(list));
  return schedule;
}

/// Stages of 1 whose messages have so many bytes.
static CostModel makeCosts(const Schedule &schedule, double bytes,
                           Topology topology, std::vector<int64_t> devices) {
  CostModel costs = makeUniformCosts(schedule, {});
  for (StageCost &stage : costs.stages) {
    stage.f = 1;
    stage.messageBytes = bytes;
  }
  costs.machine.links =
      std::make_shared<RankLinks>(std::move(topology), std::move(devices));
  return costs;
}

/// Ranks 0 to 3 in a line, the middle on a slow link: messages of 6 bytes take
/// 1 + 2, 3 + 0.5 and 1 + 2.
TEST(RankLinks, EachPairHasItsOwnTimes) {
  Topology topology =
      makeTopology(2, 2, makeLink(2, 6), makeLink(0.5, /*bandwidth=*/2));
  Schedule schedule = makeForwards(1, {0, 1, 2, 3});
  CostModel costs = makeCosts(schedule, 6, topology, {0, 1, 2, 3});
  EXPECT_EQ(simulate(schedule, costs).makespan, 4 + 3 + 3.5 + 3);
  // A rank order that leaves the node in each step.
  costs = makeCosts(schedule, 6, topology, {0, 2, 1, 3});
  EXPECT_EQ(simulate(schedule, costs).makespan, 4 + 3 * 3.5);
  // The unit of the costs' times is half a second.
  costs.machine.links = std::make_shared<RankLinks>(
      topology, std::vector<int64_t>{0, 2, 1, 3}, /*secondsPerUnit=*/0.5);
  EXPECT_EQ(simulate(schedule, costs).makespan, 4 + 2 * 3 * 3.5);
}

/// Ranks 0 and 2 on one node send to ranks 1 and 3 on the other in the same
/// moment: stages 0 and 2 of two pipelines, which run beside each other.
static Schedule makeTwoPipelines() {
  Schedule schedule({4, 2, 1}, {{0, 1}, {2, 3}});
  schedule.setForwardOnly();
  for (int64_t rank = 0; rank < 4; ++rank)
    schedule.setActions(rank, {{ActionKind::F, rank % 2, 0, rank / 2}});
  return schedule;
}

TEST(RankLinks, MessagesOnASharedLinkFollowEachOther) {
  Schedule schedule = makeTwoPipelines();
  for (auto [sharing, end] : {std::pair(LinkSharing::Pair, 1 + 3.5 + 1),
                              std::pair(LinkSharing::Device, 1 + 3.5 + 1),
                              std::pair(LinkSharing::Node, 1 + 3 + 3.5 + 1)}) {
    Topology topology =
        makeTopology(2, 2, makeLink(2, 6), makeLink(0.5, 2, sharing));
    CostModel costs = makeCosts(schedule, 6, topology, {0, 2, 1, 3});
    EXPECT_EQ(simulate(schedule, costs).makespan, end);
    costs.machine.rankFactors = {1, 1, 3};
    // Rank 2 sends at 3, when half of the other message has left.
    double late = sharing == LinkSharing::Node ? 4 + 3.5 + 1 : 3 + 3.5 + 1;
    EXPECT_EQ(simulate(schedule, costs).makespan, late);
    costs.machine.rankFactors = {3, 1, 1};
    EXPECT_EQ(simulate(schedule, costs).makespan, late);
  }
}

/// The same through one way in: ranks 0 and 2 send to the device of rank 1.
TEST(RankLinks, ADeviceReceivesOneMessageAtATime) {
  Schedule schedule({3, 2, 1}, {{0, 1}, {2, 1}});
  schedule.setForwardOnly();
  schedule.setActions(0, {{ActionKind::F, 0, 0, 0}});
  schedule.setActions(1, {{ActionKind::F, 1, 0, 0}, {ActionKind::F, 1, 0, 1}});
  schedule.setActions(2, {{ActionKind::F, 0, 0, 1}});
  for (auto [sharing, end] : {std::pair(LinkSharing::Pair, 1 + 5 + 1 + 1),
                              std::pair(LinkSharing::Device, 1 + 4 + 5 + 1)}) {
    Topology topology =
        makeTopology(1, 3, makeLink(1, 2, sharing), makeLink(0, 1));
    CostModel costs = makeCosts(schedule, 8, topology, {0, 1, 2});
    EXPECT_EQ(simulate(schedule, costs).makespan, end);
  }
}

TEST(RankLinks, TransportsShareLinksToo) {
  Schedule schedule = makeTwoPipelines();
  schedule = addCommunication(schedule, makeUniformCosts(schedule, {}));
  Topology topology =
      makeTopology(2, 2, makeLink(2, 6), makeLink(0.5, 2, LinkSharing::Node));
  CostModel costs = makeCosts(schedule, 6, topology, {0, 2, 1, 3});
  costs.machine.transport = Transport::Stream;
  Timeline timeline = simulate(schedule, costs, /*withMessages=*/true);
  EXPECT_EQ(timeline.makespan, 1 + 3 + 3.5 + 1);
  ASSERT_EQ(timeline.messages.size(), 2u);
  EXPECT_EQ(timeline.messages[1].start, 4);
  EXPECT_EQ(timeline.messages[1].end, 7.5);
}

/// Links that are all alike are those of the bandwidth and the latency, in
/// whatever order tasks are run.
TEST(RankLinks, AreTheOldModelWhereAllAreAlike) {
  LinkClass link = makeLink(0.25, 4);
  LinkClass unused = makeLink(1, 1, LinkSharing::Node);
  int compared = 0;
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries()) {
    Expected<Schedule> schedule =
        buildSchedule(info.name, {{/*ranks=*/4, /*microbatches=*/8, 0}});
    if (info.isSearch || !schedule) {
      consumeError(schedule.takeError());
      continue;
    }
    CostModel costs = makeUniformCosts(*schedule, {1, 1.5, 0.75});
    costs.latency = link.latencySeconds;
    costs.machine.bandwidth = link.bytesPerSecond;
    for (auto [index, stage] : enumerate(costs.stages))
      stage.messageBytes = 1 + index % 3;
    double expected = simulate(*schedule, costs).makespan;
    costs.latency = costs.machine.bandwidth = 0;
    for (const LinkClass &between : {link, unused}) {
      costs.machine.links = std::make_shared<RankLinks>(
          makeTopology(1, 4, link, between), std::vector<int64_t>{0, 1, 2, 3});
      EXPECT_NEAR(simulate(*schedule, costs).makespan, expected, 1e-9)
          << info.name.str();
    }
    ++compared;
  }
  EXPECT_GT(compared, 10);
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

TEST(RankPlacement, TrafficIsThatOfAStep) {
  Schedule schedule = cantFail(buildSchedule("interleaved-1f1b", {{3, 6, 2}}));
  CostModel costs = makeUniformCosts(schedule, {});
  for (auto [stage, cost] : enumerate(costs.stages))
    cost.messageBytes = stage + 1;
  std::vector<RankTraffic> traffic = listTraffic(schedule, costs.stages);
  // Stages 0 to 5 on ranks 0 1 2 0 1 2: two boundaries from 0 to 1 and from 1
  // to 2, one from 2 to 0, and their gradients.
  ASSERT_EQ(traffic.size(), 6u);
  for (const RankTraffic &entry : traffic) {
    bool closes = entry.from + entry.to == 2;
    EXPECT_EQ(entry.messages, closes ? 6 : 12);
    double bytes = closes ? 3 : entry.from + entry.to == 1 ? 1 + 4 : 2 + 5;
    EXPECT_EQ(entry.bytes, 6 * bytes);
  }
}

TEST(RankPlacement, KeepsNeighboursOnFastLinks) {
  // Devices 0 and 2, and 1 and 3, are joined by fast links.
  Topology topology = makeTopology(1, 4, makeLink(1, 1), makeLink(1, 1));
  int64_t fast = topology.addLink(makeLink(1, 10));
  for (auto [from, to] : {std::pair(0, 2), std::pair(1, 3)}) {
    topology.addOverride({0, from}, {0, to}, fast);
    topology.addOverride({0, to}, {0, from}, fast);
  }
  Schedule schedule = cantFail(buildSchedule("1f1b", {{4, 8, 1}}));
  CostModel costs = makeUniformCosts(schedule, {});
  for (StageCost &stage : costs.stages)
    stage.messageBytes = 10;
  PlacementTarget target{topology};
  RankPlacement placement = cantFail(placeRanks(target, schedule, costs));
  EXPECT_TRUE(placement.order.isOptimal);
  ASSERT_EQ(placement.crossings.size(), 1u);
  EXPECT_EQ(placement.crossings[0].first, 1);
  double natural =
      simulate(schedule, makeCosts(schedule, 10, topology, {0, 1, 2, 3}))
          .makespan;
  addPlacement(target, placement, costs.latency, costs.machine);
  EXPECT_LT(simulate(schedule, costs).makespan, natural);
  // One device of the fast pair is as far from the others.
  EXPECT_EQ(costs.latency, 1);
  placement = describePlacement(target, schedule, costs, {0, 1, 2, 3});
  EXPECT_EQ(placement.crossings.size(), 3u);
  EXPECT_FALSE(placement.order.isOptimal);
}

TEST(RankPlacement, SlowDevicesComputeLonger) {
  Topology topology;
  int64_t fast = topology.addKind({}), slow = topology.addKind({});
  topology.addNode({fast, slow, fast}, topology.addLink(makeLink(0, 1e9)));
  Schedule schedule = cantFail(buildSchedule("gpipe", {{2, 4, 1}}));
  CostModel costs = makeUniformCosts(schedule, {1, 1, 1});
  PlacementTarget target{topology, 1, {1, 2.5}};
  RankPlacement placement = cantFail(placeRanks(target, schedule, costs));
  EXPECT_EQ(placement.order.devices, (std::vector<int64_t>{0, 2}));
  placement = describePlacement(target, schedule, costs, {0, 1});
  EXPECT_EQ(placement.factors, (std::vector<double>{1, 2.5}));
  costs.machine.rankFactors = {1, 2};
  addPlacement(target, placement, costs.latency, costs.machine);
  EXPECT_EQ(costs.machine.rankFactors, (std::vector<double>{1, 5}));
}
