//===- CutTests.cpp - Cut layers for links, memory and unequal ranks
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BruteForce.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace pipewright;
using namespace pipewright::test;

using Begins = std::vector<size_t>;

/// \p count layers of weight \p work, all of it forward.
static std::vector<PlanLayer> makeLayers(llvm::ArrayRef<int64_t> works) {
  std::vector<PlanLayer> layers;
  for (int64_t work : works) {
    PlanLayer layer;
    layer.forward = work;
    layers.push_back(layer);
  }
  return layers;
}

static CutProblem makeProblem(llvm::ArrayRef<PlanLayer> layers, size_t stages) {
  CutProblem problem;
  problem.layers = layers;
  problem.slots.resize(stages);
  problem.remats = RematSet::only(Remat::None);
  return problem;
}

static int64_t getSlowest(const CutProblem &problem) {
  std::optional<Cut> cut = cutLayers(problem);
  return cut ? cut->slowest : -1;
}

//===----------------------------------------------------------------------===//
// By brute force
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getStageTime(const CutProblem &problem,
                                           size_t stage, size_t begin,
                                           size_t end) {
  const StageSlot &slot = problem.slots[stage];
  llvm::ArrayRef<PlanLayer> layers = problem.layers.slice(begin, end - begin);
  int64_t work = 0, parameterBytes = 0;
  for (const PlanLayer &layer : layers) {
    work += layer.getWork();
    parameterBytes += layer.parameterBytes;
  }
  std::optional<int64_t> added = findLeastTime(
      layers, problem.remats, slot.inFlight, slot.memory - parameterBytes);
  if (!added)
    return std::nullopt;
  int64_t time = std::llround(slot.slowness * (work + *added));
  auto getLink = [&](size_t ofStage, size_t layer) -> int64_t {
    if (ofStage == 0 || ofStage == problem.slots.size())
      return 0;
    const StageSlot &link = problem.slots[ofStage];
    return std::llround(link.linkLatency +
                        link.linkTimePerByte *
                            problem.layers[layer].bytesBefore);
  };
  int64_t before = getLink(stage, begin), behind = getLink(stage + 1, end);
  return problem.linkUse == LinkUse::Serial ? time + before + behind
                                            : std::max({time, before, behind});
}

static int64_t findSlowest(const CutProblem &problem) {
  int64_t best = -1;
  size_t layers = problem.layers.size(), stages = problem.slots.size();
  forEachCut(layers, stages, [&](const Begins &begins) {
    int64_t slowest = 0;
    for (size_t stage = 0; stage < stages; ++stage) {
      size_t end = stage + 1 < stages ? begins[stage + 1] : layers;
      std::optional<int64_t> time =
          getStageTime(problem, stage, begins[stage], end);
      if (!time)
        return;
      slowest = std::max(slowest, *time);
    }
    if (best < 0 || slowest < best)
      best = slowest;
  });
  return best;
}

TEST(Cut, AgreesWithBruteForce) {
  std::mt19937 random(1);
  int feasible = 0;
  for (int round = 0; round < 1500; ++round) {
    size_t count = 1 + random() % 6;
    std::vector<PlanLayer> layers = makeRandomLayers(random, count);
    CutProblem problem = makeProblem(layers, 1 + random() % count);
    problem.remats = {random() % 4 != 0, random() % 2 != 0, true};
    problem.linkUse = random() % 2 ? LinkUse::Serial : LinkUse::Overlapped;
    for (StageSlot &slot : problem.slots) {
      slot.slowness = 0.5 * (1 + random() % 4);
      slot.inFlight = {int64_t(1 + random() % 4), int64_t(1 + random() % 2)};
      slot.memory = 10 + random() % 80;
      slot.linkLatency = random() % 10;
      slot.linkTimePerByte = 0.5 * (random() % 20);
    }
    int64_t slowest = findSlowest(problem);
    std::optional<Cut> cut = cutLayers(problem);
    ASSERT_EQ(cut ? cut->slowest : -1, slowest) << "round " << round;
    if (!cut)
      continue;
    ++feasible;
    // What it returns is what it says.
    int64_t found = 0;
    for (size_t stage = 0; stage < problem.slots.size(); ++stage) {
      size_t end = stage + 1 < cut->begins.size() ? cut->begins[stage + 1]
                                                  : layers.size();
      size_t begin = cut->begins[stage];
      llvm::ArrayRef<PlanLayer> ofStage =
          problem.layers.slice(begin, end - begin);
      llvm::ArrayRef<Remat> remats =
          llvm::ArrayRef(cut->remats).slice(begin, end - begin);
      int64_t bytes =
          getHeldBytes(ofStage, remats, problem.slots[stage].inFlight);
      for (const PlanLayer &layer : ofStage)
        bytes += layer.parameterBytes;
      EXPECT_LE(bytes, problem.slots[stage].memory);
      found = std::max(found, *getStageTime(problem, stage, begin, end));
    }
    EXPECT_EQ(found, slowest);
  }
  EXPECT_GT(feasible, 500);
  EXPECT_LT(feasible, 1450);
}

//===----------------------------------------------------------------------===//
// Known instances
//===----------------------------------------------------------------------===//

TEST(Cut, SpeedsOfRanksInTheirOrder) {
  std::vector<PlanLayer> layers = makeLayers(std::vector<int64_t>(8, 4));
  CutProblem problem = makeProblem(layers, 3);
  problem.slots[1].slowness = 0.5;
  std::optional<Cut> cut = cutLayers(problem);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->slowest, 8);
  EXPECT_EQ(cut->begins, (Begins{0, 2, 6}));
}

/// The best cut depends on whether messages move beside the computation.
TEST(Cut, LinksThatOverlapOrNot) {
  std::vector<PlanLayer> layers = makeLayers(std::vector<int64_t>(6, 4));
  for (auto [layer, bytes] : {std::pair(1, 1), {2, 9}, {3, 1}, {4, 9}, {5, 1}})
    layers[layer].bytesBefore = bytes;
  CutProblem problem = makeProblem(layers, 3);
  for (StageSlot &slot : problem.slots)
    slot.linkTimePerByte = 1;
  problem.linkUse = LinkUse::Serial;
  EXPECT_EQ(getSlowest(problem), 13);
  problem.linkUse = LinkUse::Overlapped;
  std::optional<Cut> cut = cutLayers(problem);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->slowest, 9);
  EXPECT_EQ(cut->begins, (Begins{0, 2, 4}));
}

/// 12 equal layers on 4 stages with 8 micro-batches: 1F1B holds fewer towards
/// the end, so that memory moves layers there.
TEST(Cut, MemoryMovesLayersToLateStages) {
  PlanLayer layer;
  layer.forward = 1;
  layer.parameterBytes = 2;
  layer.savedBytes = 1;
  std::vector<PlanLayer> layers(12, layer);
  CutProblem problem = makeProblem(layers, 4);
  auto limit = [&](int64_t memory, bool isGPipe) {
    for (auto [stage, slot] : llvm::enumerate(problem.slots)) {
      slot.memory = memory;
      slot.inFlight.kept = isGPipe ? 8 : 4 - stage;
    }
    return getSlowest(problem);
  };
  EXPECT_EQ(limit(18, /*isGPipe=*/false), 3);
  EXPECT_EQ(limit(17, /*isGPipe=*/false), 4);
  EXPECT_EQ(limit(16, /*isGPipe=*/false), 4);
  EXPECT_EQ(limit(15, /*isGPipe=*/false), 4);
  EXPECT_EQ(cutLayers(problem)->begins, (Begins{0, 2, 5, 8}));
  EXPECT_EQ(limit(14, /*isGPipe=*/false), -1);
  EXPECT_EQ(limit(30, /*isGPipe=*/true), 3);
  EXPECT_EQ(limit(29, /*isGPipe=*/true), -1);
}

TEST(Cut, MoreStagesThanLayersIsNoCut) {
  std::vector<PlanLayer> layers = makeLayers({1, 1});
  EXPECT_FALSE(cutLayers(makeProblem(layers, 3)));
}
