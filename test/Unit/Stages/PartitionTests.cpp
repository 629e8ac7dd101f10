//===- PartitionTests.cpp - Cut a row of layers into stages
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Stages/Partition.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <tuple>

using namespace pipewright;
using llvm::SmallVector;

static SmallVector<size_t> cut(const PartitionProblem &problem) {
  llvm::Expected<SmallVector<size_t>> begins = partitionLayers(problem);
  if (!begins) {
    ADD_FAILURE() << llvm::toString(begins.takeError());
    return {};
  }
  return *begins;
}

static std::string whyNot(const PartitionProblem &problem) {
  llvm::Expected<SmallVector<size_t>> begins = partitionLayers(problem);
  return begins ? "" : llvm::toString(begins.takeError());
}

/// Maximum, sum of squares and bytes of a cut.
using Quality = std::tuple<int64_t, int64_t, int64_t>;

static Quality measure(const PartitionProblem &problem,
                       llvm::ArrayRef<size_t> begins) {
  int64_t maximum = 0, squares = 0, bytes = 0;
  for (size_t stage = 0; stage < begins.size(); ++stage) {
    size_t end =
        stage + 1 < begins.size() ? begins[stage + 1] : problem.weights.size();
    int64_t weight = 0;
    for (size_t layer = begins[stage]; layer < end; ++layer)
      weight += problem.weights[layer];
    maximum = std::max(maximum, weight);
    squares += weight * weight;
    if (stage != 0 && !problem.bytesBefore.empty())
      bytes += problem.bytesBefore[begins[stage]];
  }
  return {maximum, squares, bytes};
}

/// The best of all cuts that continue \p begins.
static Quality findBest(const PartitionProblem &problem,
                        SmallVector<size_t> begins) {
  if (begins.size() == problem.stages) {
    for (size_t start : problem.starts)
      if (!llvm::is_contained(begins, start))
        return {std::numeric_limits<int64_t>::max(), 0, 0};
    return measure(problem, begins);
  }
  Quality best = {std::numeric_limits<int64_t>::max(), 0, 0};
  for (size_t next = begins.back() + 1; next < problem.weights.size(); ++next) {
    SmallVector<size_t> longer = begins;
    longer.push_back(next);
    best = std::min(best, findBest(problem, longer));
  }
  return best;
}

TEST(Partition, EqualLayersAreSpreadEvenly) {
  for (auto [layers, stages] : {std::pair(30, 4),
                                {80, 32},
                                {10, 3},
                                {5, 4},
                                {38, 8},
                                {61, 8},
                                {70, 12}}) {
    PartitionProblem problem;
    problem.weights.assign(layers, 1);
    problem.stages = stages;
    SmallVector<size_t> begins = cut(problem);
    ASSERT_EQ(begins.size(), size_t(stages));
    EXPECT_EQ(begins.front(), 0u);
    for (int stage = 0; stage < stages; ++stage) {
      int end = stage + 1 < stages ? begins[stage + 1] : layers;
      int size = end - int(begins[stage]);
      EXPECT_GE(size, layers / stages) << layers << " on " << stages;
      EXPECT_LE(size, (layers + stages - 1) / stages);
    }
  }
}

TEST(Partition, TheMaximumComesBeforeTheSpread) {
  PartitionProblem problem;
  problem.weights = {1, 3, 2, 1, 1, 2};
  problem.stages = 4;
  EXPECT_EQ(std::get<0>(measure(problem, cut(problem))), 3);
}

TEST(Partition, CutsWhereFewerBytesCrossIfAllElseIsEqual) {
  PartitionProblem problem;
  problem.weights = {1, 0, 1};
  problem.stages = 2;
  problem.bytesBefore = {0, 8, 4};
  EXPECT_EQ(cut(problem), (SmallVector<size_t>{0, 2}));
  problem.bytesBefore = {0, 4, 8};
  EXPECT_EQ(cut(problem), (SmallVector<size_t>{0, 1}));
}

TEST(Partition, BeginsStagesWhereItMust) {
  PartitionProblem problem;
  problem.weights = {1, 1, 1, 1};
  problem.stages = 2;
  problem.starts = {1};
  EXPECT_EQ(cut(problem), (SmallVector<size_t>{0, 1}));
}

TEST(Partition, MoreStagesThanLayersIsAnError) {
  PartitionProblem problem;
  problem.weights = {1, 1, 1};
  problem.stages = 4;
  EXPECT_EQ(whyNot(problem),
            "cannot cut 3 layers into 4 stages: each needs a layer");
}

TEST(Partition, MoreStartsThanStagesIsAnError) {
  PartitionProblem problem;
  problem.weights = {1, 1, 1};
  problem.stages = 2;
  problem.starts = {1, 2};
  EXPECT_EQ(whyNot(problem), "cannot begin a stage at 2 layers beside the "
                             "first one with 2 stages");
}

/// The smallest sum of squares of cuts whose stages weigh at most \p maximum.
static double findSmallestSquares(const PartitionProblem &problem,
                                  double maximum) {
  size_t layers = problem.weights.size();
  std::vector<double> best(layers + 1, INFINITY);
  best[0] = 0;
  for (size_t stage = 0; stage < problem.stages; ++stage) {
    std::vector<double> next(layers + 1, INFINITY);
    for (size_t end = 1; end <= layers; ++end) {
      double weight = 0;
      for (size_t begin = end; begin-- > 0;) {
        weight += problem.weights[begin];
        if (weight > maximum)
          break;
        next[end] = std::min(next[end], best[begin] + weight * weight);
      }
    }
    best = std::move(next);
  }
  return best[layers];
}

// So many that not every stage is tried at every place.
TEST(Partition, ManyLayersBesideAHeavyOneAreSpreadEvenly) {
  std::mt19937 random(3);
  PartitionProblem problem;
  problem.stages = 40;
  for (size_t layer = 0; layer < 1600; ++layer)
    problem.weights.push_back(layer == 700 ? 50000 : random() % 100);
  auto [maximum, squares, bytes] = measure(problem, cut(problem));
  EXPECT_EQ(maximum, 50000);
  EXPECT_EQ(squares, findSmallestSquares(problem, 50000));
}

TEST(Partition, ManyLayersAreCutExactly) {
  PartitionProblem problem;
  problem.stages = 512;
  problem.weights.assign(100000, 7);
  // 100,000 is 512 * 195 + 160.
  EXPECT_EQ(std::get<0>(measure(problem, cut(problem))), 196 * 7);
}

TEST(Partition, IsAsGoodAsTheBestOfAllCuts) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    PartitionProblem problem;
    size_t layers = 1 + random() % 8;
    problem.stages = 1 + random() % layers;
    for (size_t layer = 0; layer < layers; ++layer) {
      problem.weights.push_back(random() % 5);
      problem.bytesBefore.push_back(random() % 3);
    }
    if (problem.stages > 1 && random() % 2)
      problem.starts.push_back(1 + random() % (layers - 1));
    EXPECT_EQ(measure(problem, cut(problem)), findBest(problem, {0}))
        << "round " << round;
  }
}

//===----------------------------------------------------------------------===//
// Other rules
//===----------------------------------------------------------------------===//

static int64_t getMaximum(std::initializer_list<int64_t> weights,
                          size_t stages) {
  PartitionProblem problem;
  problem.weights.assign(weights);
  problem.stages = stages;
  return std::get<0>(measure(problem, cut(problem)));
}

/// Instances on which others' rules are known to end elsewhere: torchgpipe's
/// blockpartition gives 39 for the first, DeepSpeed's partition_balanced 22 for
/// the second.
TEST(Partition, InstancesOnWhichOtherRulesFail) {
  EXPECT_EQ(getMaximum({8, 9, 17, 10, 9, 7, 13}, 4), 20);
  EXPECT_EQ(getMaximum({11, 5, 4, 1, 13, 17, 5}, 4), 18);
  EXPECT_EQ(getMaximum({1, 2, 3, 4, 5, 6}, 2), 11);
  EXPECT_EQ(getMaximum({0, 1, 2, 3, 3, 3}, 4), 3);
  EXPECT_EQ(getMaximum({5, 1, 1, 1, 1, 1, 1, 5}, 3), 6);
  EXPECT_EQ(getMaximum({9, 1, 1, 1, 1, 1, 1, 9}, 4), 9);
  EXPECT_EQ(getMaximum({7, 2, 5, 10, 8}, 2), 18);
}

/// The smallest difference between the heaviest and the lightest stage of cuts
/// that continue \p begins, and the maximum of a cut that has it: what
/// DeepSpeed and torchgpipe look for.
static std::pair<int64_t, int64_t>
findLeastSpread(const PartitionProblem &problem, SmallVector<size_t> begins) {
  std::pair<int64_t, int64_t> best = {std::numeric_limits<int64_t>::max(), 0};
  if (begins.size() == problem.stages) {
    int64_t lightest = std::numeric_limits<int64_t>::max(), heaviest = 0;
    for (size_t stage = 0; stage < begins.size(); ++stage) {
      size_t end = stage + 1 < begins.size() ? begins[stage + 1]
                                             : problem.weights.size();
      int64_t weight = 0;
      for (size_t layer = begins[stage]; layer < end; ++layer)
        weight += problem.weights[layer];
      lightest = std::min(lightest, weight);
      heaviest = std::max(heaviest, weight);
    }
    return {heaviest - lightest, heaviest};
  }
  for (size_t next = begins.back() + 1; next < problem.weights.size(); ++next) {
    SmallVector<size_t> longer = begins;
    longer.push_back(next);
    best = std::min(best, findLeastSpread(problem, longer));
  }
  return best;
}

/// Equal numbers of layers, the first stages one more.
static SmallVector<size_t> cutUniformly(const PartitionProblem &problem) {
  size_t layers = problem.weights.size(), begin = 0;
  SmallVector<size_t> begins;
  for (size_t stage = 0; stage < problem.stages; ++stage) {
    begins.push_back(begin);
    begin += layers / problem.stages + (stage < layers % problem.stages);
  }
  return begins;
}

TEST(Partition, IsNeverWorseThanOtherRules) {
  std::mt19937 random(9);
  int better = 0;
  for (int round = 0; round < 1000; ++round) {
    PartitionProblem problem;
    for (size_t layer = 0; layer < 4 + random() % 5; ++layer)
      problem.weights.push_back(1 + random() % 19);
    problem.stages = 2 + random() % 3;
    int64_t found = std::get<0>(measure(problem, cut(problem)));
    int64_t spread = findLeastSpread(problem, {0}).second;
    int64_t uniform = std::get<0>(measure(problem, cutUniformly(problem)));
    ASSERT_LE(found, spread);
    ASSERT_LE(found, uniform);
    better += found < spread;
  }
  // There are such instances.
  EXPECT_GT(better, 0);
}
