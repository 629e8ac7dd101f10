//===- CutSearchTests.cpp - The cut that a schedule runs fastest
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BruteForce.h"

#include "pipewright/Plan/CutSearch.h"
#include "pipewright/Plan/StepLosses.h"
#include "pipewright/Schedule/Recomputation.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace pipewright;
using namespace pipewright::test;

using Begins = std::vector<size_t>;

static constexpr double picosecond = 1e-12;

static Schedule build(llvm::StringRef name, const ScheduleShape &shape) {
  return llvm::cantFail(buildSchedule(name, shape));
}

/// 16 equal layers on 4 ranks with 8 micro-batches. F takes 1, backward 2. Each
/// layer keeps 1, and a stage that recomputes all of it keeps what enters it.
struct EqualLayers : testing::Test {
  EqualLayers() : schedule(build("1f1b", {4, 8, 1})) {
    PlanLayer layer;
    layer.forward = layer.backward = layer.weight = 1;
    layer.bytesBefore = layer.savedBytes = layer.selectiveBytes = 1;
    layers.assign(16, layer);
    problem.layers = layers;
    problem.schedule = &schedule;
    problem.remats.selective = false;
  }

  /// The step in the layers' unit.
  int64_t search(int64_t memory) {
    problem.memory = memory;
    std::optional<JudgedCut> found = searchCut(problem);
    EXPECT_TRUE(found);
    cut = std::move(*found);
    EXPECT_EQ(cut.excessBytes, 0);
    return std::llround(cut.stepSeconds / picosecond);
  }

  /// The fastest step if a stage recomputes all its layers, as a part of its
  /// backward, or none; and its cut, with the stages that do.
  int64_t findBest(int64_t memory, Begins &bestBegins, Begins &bestStages) {
    double best = INFINITY;
    forEachCut(16, 4, [&](const Begins &begins) {
      CostModel costs;
      Begins recomputing;
      for (size_t stage = 0; stage < 4; ++stage) {
        double size = (stage == 3 ? 16 : begins[stage + 1]) - begins[stage];
        double inFlight = 4 - double(stage);
        costs.stages.push_back({size, size, size});
        if (inFlight * size <= memory)
          continue;
        if (inFlight + size > memory)
          return;
        recomputing.push_back(stage);
        costs.stages.back().b += size;
      }
      double makespan = simulate(schedule, costs).makespan;
      if (makespan >= best)
        return;
      best = makespan;
      bestBegins = begins;
      bestStages = recomputing;
    });
    return std::llround(best);
  }

  Schedule schedule;
  std::vector<PlanLayer> layers;
  CutSearchProblem problem;
  JudgedCut cut;
};

TEST_F(EqualLayers, UpdateShardsFaster) {
  for (PlanLayer &layer : layers)
    layer.parameterBytes = 10;
  layers.front().parameterBytes = 20;
  problem.updateSecondsPerByte = 2;
  problem.updateLatency = 5;
  Begins begins = {0, 4, 8, 12};
  EXPECT_EQ(judgeCut(problem, begins).updateSeconds, 5 + 2 * 50);
  // The slowest rank is another one then: the second one has no shards.
  layers.front().shardBytes = 20;
  problem.shardGainPerByte = 1.5;
  EXPECT_EQ(judgeCut(problem, begins).updateSeconds, 5 + 2 * 40);
  problem.shardGainPerByte = 0.5;
  EXPECT_EQ(judgeCut(problem, begins).updateSeconds, 5 + 2 * 50 - 0.5 * 20);
}

TEST_F(EqualLayers, WithoutALimit) {
  EXPECT_EQ(search(1000), 132);
  EXPECT_EQ(cut.begins, (Begins{0, 4, 8, 12}));
}

TEST_F(EqualLayers, ALimitMovesTheCut) {
  problem.remats = RematSet::only(Remat::None);
  EXPECT_EQ(search(12), 150);
  EXPECT_EQ(cut.begins, (Begins{0, 3, 7, 12}));
}

/// To recompute some layers of a stage, while it waits for the gradient, is
/// faster than to recompute all of them, or none, in its backward.
TEST_F(EqualLayers, TighterLimitsRecomputeSomeLayers) {
  Begins begins, recomputing;
  EXPECT_EQ(findBest(12, begins, recomputing), 150);
  EXPECT_EQ(begins, (Begins{0, 3, 7, 12}));
  EXPECT_EQ(recomputing, Begins{});
  EXPECT_LE(search(12), 150);

  EXPECT_EQ(findBest(10, begins, recomputing), 154);
  EXPECT_EQ(begins, (Begins{0, 4, 7, 12}));
  EXPECT_EQ(recomputing, Begins{0});
  EXPECT_LE(search(10), 154);

  EXPECT_EQ(findBest(9, begins, recomputing), 157);
  EXPECT_EQ(begins, (Begins{0, 4, 7, 11}));
  EXPECT_EQ(recomputing, Begins{0});
  EXPECT_LE(search(9), 157);

  EXPECT_EQ(findBest(8, begins, recomputing), 160);
  EXPECT_EQ(begins, (Begins{0, 4, 7, 11}));
  EXPECT_EQ(recomputing, (Begins{0, 1}));
  EXPECT_LE(search(8), 160);
}

/// Each layer waits 2 for rows after half of its forward, and sends gradients
/// in the same way: what one half of a pair computes meanwhile hides that.
struct ExchangingLayers : EqualLayers {
  ExchangingLayers() {
    schedule = build("dualpipev", {2, 8, 2});
    PlanLayer layer;
    layer.forward = 10 + 2;
    layer.backward = 10 + 2;
    layer.weight = 10;
    layer.exchangeTime = 2;
    LayerCost half = {5, 5, 5};
    LayerCost behind = half;
    behind.exchanges = true;
    behind.exchange = behind.gradientExchange = 2;
    layer.exchangingLayers = {half, behind};
    layers.assign(4, layer);
    problem.layers = layers;
    problem.remats = RematSet::only(Remat::None);
  }

  int64_t countPairs() const {
    int64_t pairs = 0;
    for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
      pairs +=
          llvm::count_if(schedule.getActions(rank), [](const Action &action) {
            return action.kind == ActionKind::FB;
          });
    return pairs;
  }
};

TEST_F(ExchangingLayers, PairsHideExchanges) {
  JudgedCut hiding = judgeCut(problem, {0, 1, 2, 3});
  const StageCost &stage = hiding.costs.stages.front();
  EXPECT_TRUE(stage.hasWeightTask);
  ASSERT_EQ(stage.forwardParts.size(), 2u);
  EXPECT_NEAR(stage.forwardParts[0].exchange, 2 * picosecond, 1e-24);
  EXPECT_NEAR(stage.backwardParts[1].compute, 5 * picosecond, 1e-24);
  // Without halves a pair takes what both of its parts take.
  for (PlanLayer &layer : layers)
    layer.exchangingLayers.clear();
  JudgedCut apart = judgeCut(problem, {0, 1, 2, 3});
  EXPECT_LT(hiding.stepSeconds, apart.stepSeconds);

  // Both exchanges of each pair are hidden, and no work is counted twice.
  ASSERT_GT(countPairs(), 0);
  StepLosses losses = findLosses(schedule, hiding);
  EXPECT_NEAR(findLosses(schedule, apart).work - losses.work,
              4.0 * countPairs() / schedule.getRanks() * picosecond, 1e-20);
  EXPECT_NEAR(losses.work + losses.fillAndDrain, hiding.stepSeconds, 1e-20);
  EXPECT_NEAR(losses.imbalance, 0, 1e-20);
  EXPECT_GE(losses.fillAndDrain, 0);
  EXPECT_NEAR(getBubbleRatio(schedule, hiding),
              losses.fillAndDrain / hiding.stepSeconds, 1e-9);
}

//===----------------------------------------------------------------------===//
// By brute force
//===----------------------------------------------------------------------===//

/// The fastest step over all cuts and all policies, by the definitions.
static double findFastest(const CutSearchProblem &problem) {
  const Schedule &schedule = *problem.schedule;
  size_t count = problem.layers.size(), stages = schedule.getStages();
  std::vector<double> inFlight = getPeakActivations(schedule);
  double best = INFINITY;
  auto tryCut = [&](const Begins &begins, const std::vector<Remat> &remats) {
    CostModel costs = problem.costs;
    for (size_t stage = 0; stage < stages; ++stage) {
      size_t begin = begins[stage];
      size_t end = stage + 1 < stages ? begins[stage + 1] : count;
      llvm::ArrayRef<PlanLayer> layers =
          problem.layers.slice(begin, end - begin);
      llvm::ArrayRef<Remat> ofStage =
          llvm::ArrayRef(remats).slice(begin, end - begin);
      int64_t bytes =
          getHeldBytes(layers, ofStage, {int64_t(inFlight[stage]), 1});
      StageCost cost = {0, 0, 0, getAddedTime(layers, ofStage) * picosecond};
      for (const PlanLayer &layer : layers) {
        bytes += layer.parameterBytes;
        cost.f += layer.forward * picosecond;
        cost.b += layer.backward * picosecond;
        cost.w += layer.weight * picosecond;
      }
      if (bytes > problem.memory)
        return;
      cost.messageBytes = end < count ? problem.layers[end].bytesBefore : 0;
      costs.stages.push_back(cost);
    }
    double makespan = simulate(addRecomputation(schedule), costs).makespan;
    best = std::min(best, makespan);
  };
  forEachCut(count, stages, [&](const Begins &begins) {
    forEachRemats(count, problem.remats, [&](const std::vector<Remat> &remats) {
      tryCut(begins, remats);
    });
  });
  return best;
}

TEST(CutSearch, AgreesWithBruteForce) {
  std::mt19937 random(1);
  int feasible = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<PlanLayer> layers = makeRandomLayers(random, 2 + random() % 4);
    CutSearchProblem problem;
    problem.layers = layers;
    int64_t ranks = 2 + random() % std::min<size_t>(2, layers.size() - 1);
    Schedule schedule = build(random() % 2 ? "1f1b" : "gpipe", {ranks, 4, 1});
    problem.schedule = &schedule;
    problem.memory = 10 + random() % 60;
    problem.costs.latency = (random() % 3) * picosecond;
    if (random() % 2)
      problem.costs.machine.bandwidth = (1 + random() % 4) / picosecond;
    double fastest = findFastest(problem);
    std::optional<JudgedCut> found = searchCut(problem);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->excessBytes == 0, std::isfinite(fastest))
        << "round " << round;
    if (!std::isfinite(fastest))
      continue;
    ++feasible;
    ASSERT_NEAR(found->stepSeconds, fastest, 1e-6 * fastest)
        << "round " << round;
  }
  EXPECT_GT(feasible, 300);
  EXPECT_LT(feasible, 950);
}

//===----------------------------------------------------------------------===//
// Schedules with several stages a rank
//===----------------------------------------------------------------------===//

/// What the search says of memory is what the simulator counts.
TEST(CutSearch, CountsAsTheSimulatorDoes) {
  std::mt19937 random(2);
  std::vector<PlanLayer> layers = makeRandomLayers(random, 24);
  for (PlanLayer &layer : layers)
    layer.parameterBytes = 0;
  for (const auto &[name, chunks] :
       {std::pair("interleaved-1f1b", 2), {"zb-v", 2}, {"dualpipe", 1}}) {
    Schedule schedule = build(name, {4, 8, chunks});
    CutSearchProblem problem;
    problem.layers = layers;
    problem.schedule = &schedule;
    problem.remats = RematSet::only(Remat::None);
    std::optional<JudgedCut> cut = findFirstCut(problem);
    ASSERT_TRUE(cut);
    std::vector<double> sizes;
    for (size_t stage = 0; stage < cut->begins.size(); ++stage) {
      size_t end = stage + 1 < cut->begins.size() ? cut->begins[stage + 1]
                                                  : layers.size();
      sizes.push_back(0);
      for (size_t layer = cut->begins[stage]; layer < end; ++layer)
        sizes.back() += layers[layer].savedBytes;
    }
    std::vector<double> expected = getPeaks(schedule, sizes);
    ASSERT_EQ(cut->peakBytes.size(), expected.size());
    for (auto [found, peak] : llvm::zip(cut->peakBytes, expected))
      EXPECT_EQ(found, peak) << name;
  }
}

TEST(CutSearch, ChunksOfARankShareItsMemory) {
  PlanLayer layer;
  layer.forward = layer.backward = layer.weight = 1;
  layer.bytesBefore = 1;
  layer.savedBytes = 8;
  layer.selectiveBytes = 4;
  layer.selectiveTime = 1;
  std::vector<PlanLayer> layers(16, layer);
  Schedule schedule = build("interleaved-1f1b", {4, 8, 2});
  CutSearchProblem problem;
  problem.layers = layers;
  problem.schedule = &schedule;
  std::optional<JudgedCut> free = searchCut(problem);
  ASSERT_TRUE(free);
  problem.memory = free->getPeakBytes() * 3 / 4;
  std::optional<JudgedCut> tight = searchCut(problem);
  ASSERT_TRUE(tight);
  EXPECT_EQ(tight->excessBytes, 0);
  EXPECT_GT(tight->stepSeconds, free->stepSeconds);
  // Neither all layers nor none need to recompute.
  EXPECT_GT(llvm::count(tight->remats, Remat::None), 0);
  EXPECT_LT(llvm::count(tight->remats, Remat::None), 16);
}

TEST(CutSearch, TellsByHowMuchNothingFits) {
  std::vector<PlanLayer> layers(4);
  for (PlanLayer &layer : layers) {
    layer.forward = 1;
    layer.parameterBytes = 100;
  }
  Schedule schedule = build("1f1b", {2, 4, 1});
  CutSearchProblem problem;
  problem.layers = layers;
  problem.schedule = &schedule;
  problem.memory = 150;
  std::optional<JudgedCut> cut = searchCut(problem);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->excessBytes, 100);
  EXPECT_EQ(cut->getPeakBytes(), 200);
}

/// More cuts than can be tried: it is never worse than where it begins.
TEST(CutSearch, ImprovesTheFirstCut) {
  std::mt19937 random(4);
  int better = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<PlanLayer> layers = makeRandomLayers(random, 60);
    Schedule schedule = build("1f1b", {8, 16, 1});
    CutSearchProblem problem;
    problem.layers = layers;
    problem.schedule = &schedule;
    std::optional<JudgedCut> first = findFirstCut(problem);
    std::optional<JudgedCut> best = searchCut(problem);
    ASSERT_TRUE(first && best);
    EXPECT_FALSE(first->isBetterThan(*best));
    better += best->isBetterThan(*first);
  }
  EXPECT_GT(better, 0);
}
