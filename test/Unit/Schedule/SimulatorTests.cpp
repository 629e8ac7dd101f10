//===- SimulatorTests.cpp - Times and metrics worked out by hand
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../ZeroBubbleTable.h"

#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/RoleParts.h"
#include "pipewright/Schedule/ScheduleRegistry.h"
#include "pipewright/Schedule/Simulator.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace llvm;
using namespace pipewright;

static Schedule build(StringRef name, int64_t ranks, int64_t microbatches) {
  Expected<Schedule> schedule = buildSchedule(name, {ranks, microbatches, 1});
  if (!schedule)
    ADD_FAILURE() << toString(schedule.takeError());
  return std::move(*schedule);
}

static Metrics measureUniform(const Schedule &schedule, const StageCost &cost,
                              double latency = 0) {
  return measure(schedule,
                 simulate(schedule, makeUniformCosts(schedule, cost, latency)));
}

//===----------------------------------------------------------------------===//
// Metrics
//===----------------------------------------------------------------------===//

/// The span bubble of ZB-H1 is (p - 1) max(F + B - W, B).
TEST(Metrics, SpanBubbleOfZBH1) {
  for (auto [f, b, w] : {std::tuple(1., 1., 1.), std::tuple(2., 3., 1.),
                         std::tuple(5., 1., 2.), std::tuple(1., 4., 4.)})
    for (int64_t p : {1, 2, 4, 8}) {
      Metrics metrics = measureUniform(build("zb-h1", p, 3 * p), {f, b, w});
      EXPECT_NEAR(metrics.spanBubble, (p - 1) * std::max(f + b - w, b), 1e-9)
          << p << " ranks, F " << f << ", B " << b << ", W " << w;
    }
}

TEST(Metrics, SpanBubbleRatiosOfTheZeroBubblePaper) {
  for (const ZeroBubbleRow &row : zeroBubbleTable)
    for (auto [name, ratio] :
         {std::pair("1f1b", row.oneFOneB), std::pair("zb-h1", row.zbh1),
          std::pair("zb-h2", row.zbh2)}) {
      Schedule schedule = build(name, row.ranks, row.microbatches);
      Metrics metrics = measureUniform(schedule, row.cost, row.latency);
      EXPECT_NEAR(metrics.getSpanBubbleRatio(), ratio, 6e-5)
          << name << ", " << row.ranks << " ranks, " << row.microbatches
          << " micro-batches, F " << row.cost.f;
    }
}

TEST(Metrics, MessagesCrossRanksBothWays) {
  EXPECT_EQ(countMessages(build("1f1b", 4, 7)), 2 * 3 * 7);
  EXPECT_EQ(countMessages(build("1f1b", 1, 7)), 0);
  // A V of 2 p stages has its middle on one rank.
  EXPECT_EQ(countMessages(Schedule({4, 7, 2}, placeInWaves(4, 2))), 2 * 6 * 7);
  EXPECT_EQ(countMessages(buildForwardOnly({4, 7, 2}, placeInWaves(4, 2))),
            6 * 7);
  // Two directions share the micro-batches.
  EXPECT_EQ(countMessages(Schedule({4, 8, 1}, placeBothWays(4))), 2 * 3 * 8);
}

TEST(Metrics, PeaksWeighStages) {
  // Under GPipe every rank holds all micro-batches of its stage at once.
  std::vector<double> sizes = {10, 20, 5};
  EXPECT_EQ(getPeaks(build("gpipe", 3, 4), sizes),
            (std::vector<double>{40, 80, 20}));
  EXPECT_EQ(getPeaks(build("1f1b", 3, 4), sizes),
            (std::vector<double>{30, 40, 5}));
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

static double getMakespan(const Schedule &schedule, const CostModel &costs) {
  return simulate(schedule, costs).makespan;
}

/// Unit costs, and messages that occupy their link for \p messageTime.
static CostModel makeCosts(const Schedule &schedule, double messageTime,
                           double latency = 0) {
  StageCost share;
  share.messageBytes = 8 * messageTime;
  CostModel costs = makeUniformCosts(schedule, share, latency);
  costs.machine.bandwidth = 8;
  return costs;
}

/// A slow rank makes its stage slow: as GPipe with unequal stages, sum F +
/// (m - 1) max F + sum BW + (m - 1) max BW.
TEST(Machine, AStragglerUnderGPipe) {
  Schedule schedule = build("gpipe", 4, 6);
  CostModel costs = makeUniformCosts(schedule, {2, 1, 2});
  costs.machine.rankFactors = {1, 1, 1.5};
  double sum = 3 + 1.5;
  EXPECT_NEAR(getMakespan(schedule, costs),
              2 * (sum + 5 * 1.5) + 3 * (sum + 5 * 1.5), 1e-9);
}

/// Each action takes longer by the overhead.
TEST(Machine, OverheadOfAnAction) {
  Schedule schedule = build("1f1b", 4, 8);
  CostModel costs = makeUniformCosts(schedule, {1, 1, 1});
  costs.machine.overhead = 0.25;
  EXPECT_NEAR(getMakespan(schedule, costs), (8 + 3) * (1.25 + 2.25), 1e-9);
}

TEST(Machine, ARecomputationTakesFOrItsOwnTime) {
  Schedule schedule({1, 1, 1});
  schedule.setActions(0, {{ActionKind::F}, {ActionKind::R}, {ActionKind::BW}});
  CostModel costs = makeUniformCosts(schedule, {1, 2, 3});
  EXPECT_EQ(getMakespan(schedule, costs), 1 + 1 + 5);
  costs.stages[0].r = 0.5;
  EXPECT_EQ(getMakespan(schedule, costs), 1 + 0.5 + 5);
}

/// As long as messages take less than the work between them, they are latency.
/// One branch of a pair computes while the other one exchanges: 10 of F, 20 of
/// the backward, during which 5 are exchanged, and so on.
TEST(Machine, APairHidesExchanges) {
  CostModel costs;
  costs.stages.resize(1);
  StageCost &cost = costs.stages.front();
  cost.f = 25;
  cost.b = 45;
  cost.w = 7;
  Action pair(ActionKind::FB, 0, 0, 0,
              {Action(ActionKind::F, 0, 1), Action(ActionKind::BW, 0, 0)});
  EXPECT_EQ(costs.getDuration(pair), 77);
  cost.forwardParts = {{10, 5}, {10, 0}};
  cost.backwardParts = {{20, 5}, {20, 0}};
  cost.hasWeightTask = true;
  EXPECT_EQ(costs.getDuration(pair), 67);
  EXPECT_EQ(costs.getDuration(pair.parts[0]), 25);
  EXPECT_EQ(costs.getDuration(pair.parts[1]), 52);
  // Alone, B goes on after its exchange; W has nothing to wait for.
  pair.parts[1].kind = ActionKind::B;
  EXPECT_EQ(costs.getDuration(pair), 60);
  // Exchanges take longer than what there is to compute.
  cost.forwardParts[0].exchange = 50;
  EXPECT_EQ(costs.getDuration(pair), 90);
  costs.pair = 3;
  EXPECT_EQ(costs.getDuration(pair), 3);
}

TEST(Machine, LayersThatExchangeBeginParts) {
  StageCost cost;
  LayerCost first = {1, 2, 3};
  addRoleParts({first, first}, /*hasWeightTask=*/true, cost);
  EXPECT_TRUE(cost.forwardParts.empty());
  LayerCost second = {10, 20, 30, /*exchanges=*/true, 4, 5};
  LayerCost third = {100, 200, 300, /*exchanges=*/true, 6, 7};
  addRoleParts({first, second, third, first}, /*hasWeightTask=*/false, cost);
  auto list = [](llvm::ArrayRef<RolePart> parts) {
    std::vector<double> times;
    for (const RolePart &part : parts)
      times.insert(times.end(), {part.compute, part.exchange});
    return times;
  };
  EXPECT_EQ(list(cost.forwardParts),
            (std::vector<double>{1, 4, 10, 6, 101, 0}));
  EXPECT_EQ(list(cost.backwardParts),
            (std::vector<double>{505, 7, 50, 5, 5, 0}));
}

TEST(Machine, FastLinksAreLatency) {
  Schedule schedule = build("gpipe", 4, 5);
  EXPECT_NEAR(getMakespan(schedule, makeCosts(schedule, 0.25, 0.5)),
              (5 + 3) * 3 + 2 * 3 * 0.75, 1e-9);
}

/// Links that are slower than the stages set the pace of GPipe's forwards:
/// message k leaves at 1 + k x. Rank 1 then starts forward k at 1 + (k + 1) x.
TEST(Machine, ALinkCarriesOneMessageAtATime) {
  int64_t m = 6;
  Schedule schedule = build("gpipe", 2, m);
  double x = 3;
  // Rank 1 runs its last forward at 1 + m x, then all backwards of 2, faster
  // than the link takes their messages.
  double lastGradient = 1 + m * x + 1 + 2 + m * x;
  EXPECT_NEAR(getMakespan(schedule, makeCosts(schedule, x)), lastGradient + 2,
              1e-9);
}

/// Two stages of rank 0 send to rank 1 in the same moment: the second message
/// waits. Stages 0 and 2 are on rank 0, stages 1 and 3 on rank 1.
TEST(Machine, StagesShareALink) {
  Schedule schedule = buildForwardOnly({2, 2, 2}, placeInLoops(2, 2));
  schedule.setActions(0, {{ActionKind::F, 0, 0},
                          {ActionKind::F, 0, 1},
                          {ActionKind::F, 2, 0},
                          {ActionKind::F, 2, 1}});
  schedule.setActions(1, {{ActionKind::F, 1, 0},
                          {ActionKind::F, 3, 0},
                          {ActionKind::F, 1, 1},
                          {ActionKind::F, 3, 1}});
  CostModel costs = makeCosts(schedule, 4);
  for (StageCost &stage : costs.stages)
    stage.f = 1;
  // 0 -> 1: messages of stage 0 leave at 1 and 5; F1.0 runs at 5, F2.0 at 10.
  // Its message finds the link free since 9 and arrives at 15; F3.0 ends at 16.
  // F1.1 then runs until 17, F2.1 from 21 to 22, F3.1 from 26.
  EXPECT_EQ(getMakespan(schedule, costs), 27);
  // Without the link ranks only wait for work: F1.0 starts at 1, F2.0 at 2,
  // F3.0 at 3, F1.1 at 4, F2.1 at 5 and F3.1 at 6.
  costs.machine.bandwidth = 0;
  EXPECT_EQ(getMakespan(schedule, costs), 7);
}

//===----------------------------------------------------------------------===//
// Transports
//===----------------------------------------------------------------------===//

/// Streams beside the computation lose nothing against values that leave when
/// they are made, if messages take no time.
TEST(Transports, StreamsReachTheIdealTime) {
  for (StringRef name : {"gpipe", "1f1b", "eager-1f1b", "zb-h1"}) {
    Schedule schedule = build(name, 4, 16);
    CostModel costs = makeUniformCosts(schedule, {1, 1, 1});
    double ideal = getMakespan(schedule, costs);
    schedule = addCommunication(std::move(schedule), costs);
    for (Transport transport : {Transport::Stream, Transport::StreamPerPeer,
                                Transport::StreamPerChannel}) {
      costs.machine.transport = transport;
      EXPECT_EQ(getMakespan(schedule, costs), ideal)
          << name.str() << " with " << getName(transport).str();
    }
  }
}

/// Calls that block make GPipe's ranks wait for each other's messages: two
/// ranks, each message takes x. Rank 0 sends after each forward, in which rank
/// 1 computes the forward before: m (1 + x) + 1; backwards go the same way.
TEST(Transports, BlockingCallsTakeTheRanksTime) {
  int64_t m = 5;
  double x = 0.5;
  Schedule schedule = build("gpipe", 2, m);
  CostModel costs = makeCosts(schedule, x);
  costs.machine.transport = Transport::Blocking;
  schedule = addCommunication(std::move(schedule), costs);
  double forward = m * (1 + x) + 1;
  double backward = m * (2 + x) + 2;
  EXPECT_NEAR(getMakespan(schedule, costs), forward + backward, 1e-9);
}

/// One message, with its three times by hand: rank 0 computes until 1 and sends
/// until 3; it arrives at 3.5.
TEST(Transports, TheReceiverWaitsForTheLatency) {
  Schedule schedule = buildForwardOnly({2, 1, 1}, placeInLoops(2, 1));
  CostModel costs = makeCosts(schedule, 2, 0.5);
  schedule = addCommunication(std::move(schedule), costs);
  for (Transport transport : getTransports()) {
    costs.machine.transport = transport;
    Timeline timeline = simulate(schedule, costs);
    EXPECT_EQ(timeline.ranks[1][0].start, 3.5) << getName(transport).str();
    EXPECT_EQ(timeline.makespan, 4.5);
  }
}

//===----------------------------------------------------------------------===//
// Jitter
//===----------------------------------------------------------------------===//

TEST(Jitter, StaysInItsBoundsAndInOrder) {
  Schedule schedule = build("1f1b", 4, 16);
  CostModel costs = makeUniformCosts(schedule, {1, 1, 1});
  double quiet = getMakespan(schedule, costs);
  costs.machine.jitter = 0.2;
  Spread spread = simulateSpread(schedule, costs, 50);
  EXPECT_EQ(spread.seeds, 50);
  EXPECT_LE(spread.p50, spread.p90);
  EXPECT_LE(spread.p90, spread.p99);
  EXPECT_GT(spread.p99, spread.p50);
  // Waiting for the slower of two makes times longer, but never by more than
  // each action may.
  EXPECT_GT(spread.p50, quiet);
  EXPECT_LT(spread.p99, quiet * 1.2);
}

TEST(Jitter, IsAFunctionOfTheSeed) {
  Schedule schedule = build("1f1b", 2, 4);
  CostModel costs = makeUniformCosts(schedule, {1, 1, 1});
  costs.machine.jitter = 0.2;
  costs.machine.seed = 7;
  double first = getMakespan(schedule, costs);
  EXPECT_EQ(getMakespan(schedule, costs), first);
  costs.machine.seed = 8;
  EXPECT_NE(getMakespan(schedule, costs), first);
}

/// Of one rank, the makespan is the sum of its actions: the factors' mean is 1.
TEST(Jitter, KeepsTheMean) {
  Schedule schedule = build("gpipe", 1, 4096);
  CostModel costs = makeUniformCosts(schedule, {1, 1, 1});
  costs.machine.jitter = 0.5;
  EXPECT_NEAR(getMakespan(schedule, costs) / (3 * 4096), 1, 0.01);
}
