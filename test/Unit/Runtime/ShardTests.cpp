//===- ShardTests.cpp - Parameters that replicas share out ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ranks.h"
#include "core/Context.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace pprt;

//===----------------------------------------------------------------------===//
// Sums and the norm
//===----------------------------------------------------------------------===//

namespace {
constexpr int64_t count = 101;

/// A rank with a whole parameter and a shard, of as many numbers.
struct Model {
  Model(uint32_t replicas, uint32_t groupSize) {
    for (uint32_t i = 0; i < 2; ++i) {
      PprtParameter &parameter = parameters[i];
      parameter.tensor = {i == 0 ? "w" : "experts", PPRT_F32, 1, &count,
                          count * sizeof(float)};
      parameter.trainable = 1;
      parameter.order = i;
      parameter.offset = 1024 * i;
      parameter.gradient = 1024 * (2 + i);
      parameter.state[0] = 1024 * (4 + i);
      parameter.shards = i == 0 ? 1 : groupSize;
    }
    descriptor.ranks = 1;
    descriptor.dataParallel = replicas;
    descriptor.expertParallel = groupSize;
    descriptor.microbatches = 1;
    descriptor.reductionOffset = 6 * 1024;
    descriptor.arenaBytes = 8 * 1024;
    descriptor.parameterCount = 2;
    descriptor.parameters = parameters;
    descriptor.bufferCount = 2;
    descriptor.buffers = buffers;
  }

  PprtParameter parameters[2] = {};
  uint64_t offset = 7 * 1024;
  uint16_t slotOf = 0;
  PprtBuffer buffers[2] = {
      {PPRT_BUFFER_LOSS_SUM, 1, &offset, sizeof(float), &slotOf, 0, 0},
      {PPRT_BUFFER_LOSS_WEIGHT, 1, &offset, sizeof(float), &slotOf, 0, 0}};
  PprtDescriptor descriptor = {};
};

using Numbers = std::vector<float>;

/// What a replica has after an update: per parameter.
struct Updated {
  StepResult result;
  Numbers gradients[2], values[2];
};
} // namespace

/// Number \p i of a gradient as a replica has it before the sum.
static float makeGradient(uint32_t parameter, uint32_t replica, int64_t i) {
  return std::sin(static_cast<float>(1 + i + 7 * parameter + 31 * replica));
}

/// Updates the parameters of all replicas, of which one may have a gradient
/// that overflows.
static std::vector<Updated> update(uint32_t replicas, uint32_t groupSize,
                                   uint32_t overflowing = UINT32_MAX) {
  Model model(replicas, groupSize);
  std::vector<Updated> outcomes(replicas);
  runRanks(replicas, [&](Transport &all) {
    uint32_t self = all.getRank();
    RankOptions options;
    options.learningRate = 1;
    options.lossScale.initial = 2;
    options.lossScale.dynamic = true;
    Progress progress;
    PprtContext context(model.descriptor, options, all, progress);
    EXPECT_FALSE(context.device->start().failed());
    context.beginStep(1);
    context.result.learningRate = 1;
    float one = 1;
    memcpy(context.lossWeightBits.data(), &one, sizeof one);
    for (uint32_t parameter = 0; parameter < 2; ++parameter) {
      auto *gradient =
          static_cast<float *>(context.getGradient(parameter).data);
      for (int64_t i = 0; i < count; ++i)
        gradient[i] = makeGradient(parameter, self, i);
      if (parameter == 1 && self == overflowing)
        gradient[5] = INFINITY;
    }
    uint32_t both[] = {0, 1};
    pprtAllReduce(&context, both, 2);
    pprtUpdate(&context);
    Updated &outcome = outcomes[self];
    outcome.result = context.result;
    for (uint32_t parameter = 0; parameter < 2; ++parameter) {
      auto *gradient =
          static_cast<float *>(context.getGradient(parameter).data);
      outcome.gradients[parameter].assign(gradient, gradient + count);
      auto *value = reinterpret_cast<float *>(
          context.device->at(model.parameters[parameter].offset));
      outcome.values[parameter].assign(value, value + count);
    }
  });
  return outcomes;
}

/// The sum over replicas from \p first on, every \p stride.
static double sumGradients(uint32_t parameter, uint32_t first, uint32_t stride,
                           uint32_t replicas, int64_t i) {
  double sum = 0;
  for (uint32_t replica = first; replica < replicas; replica += stride)
    sum += makeGradient(parameter, replica, i);
  return sum;
}

static void checkUpdate(uint32_t replicas, uint32_t groupSize) {
  std::vector<Updated> outcomes = update(replicas, groupSize);
  double squares = 0;
  for (uint32_t replica = 0; replica < replicas; ++replica) {
    const Updated &outcome = outcomes[replica];
    uint32_t place = replica % groupSize;
    for (int64_t i = 0; i < count; ++i) {
      double whole = sumGradients(0, 0, 1, replicas, i);
      double shard = sumGradients(1, place, groupSize, replicas, i);
      EXPECT_NEAR(outcome.gradients[0][i], whole, 1e-5);
      EXPECT_NEAR(outcome.gradients[1][i], shard, 1e-5);
      if (replica == 0)
        squares += whole * whole;
      if (replica < groupSize)
        squares += shard * shard;
    }
    EXPECT_EQ(outcome.gradients[0], outcomes[0].gradients[0]);
    EXPECT_EQ(outcome.gradients[1], outcomes[place].gradients[1]);
    EXPECT_EQ(outcome.values[0], outcomes[0].values[0]);
    EXPECT_EQ(outcome.values[1], outcomes[place].values[1]);
    EXPECT_EQ(outcome.result.gradientNorm, outcomes[0].result.gradientNorm);
    EXPECT_FALSE(outcome.result.skipped);
  }
  // Of the weighted loss's gradients, that are scaled by two.
  EXPECT_NEAR(outcomes[0].result.gradientNorm,
              std::sqrt(squares) / replicas / 2, 1e-5);
  EXPECT_NE(outcomes[0].values[1], outcomes[1].values[1]);
}

TEST(Shards, AreSummedOverThoseThatHaveThem) {
  checkUpdate(/*replicas=*/4, /*groupSize=*/2);
  checkUpdate(6, 2);
  checkUpdate(6, 3);
}

TEST(Shards, AreNotSummedIfEachIsInOneReplica) {
  checkUpdate(2, 2);
  checkUpdate(4, 4);
}

TEST(Shards, OverflowOnAllReplicasIfOnOne) {
  for (uint32_t replica = 0; replica < 4; ++replica)
    for (const Updated &outcome : update(4, 2, replica)) {
      EXPECT_TRUE(outcome.result.skipped);
      EXPECT_TRUE(outcome.result.lowersScale);
      EXPECT_EQ(outcome.values[0], Numbers(count));
      EXPECT_EQ(outcome.values[1], Numbers(count));
    }
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

TEST(RankGroups, AreConsecutivePipelines) {
  PprtDescriptor descriptor = {};
  descriptor.ranks = 3;
  descriptor.dataParallel = 4;
  descriptor.expertParallel = 2;
  runRanks(12, [&](Transport &all) {
    PprtDescriptor mine = descriptor;
    mine.rank = all.getRank() % 3;
    RankGroups groups(mine, all);
    uint32_t replica = all.getRank() / 3;
    EXPECT_EQ(groups.getGroup(), replica / 2);
    EXPECT_EQ(groups.getPlace(), replica % 2);
    EXPECT_EQ(groups.getMember(1), (replica / 2 * 2 + 1) * 3 + mine.rank);
    EXPECT_EQ(groups.getSharer(1), (2 + replica % 2) * 3 + mine.rank);
    EXPECT_EQ(groups.members->getRank(), replica % 2);
    EXPECT_EQ(groups.members->getSize(), 2u);
    EXPECT_EQ(groups.sharers->getRank(), replica / 2);
    EXPECT_EQ(groups.sharers->getSize(), 2u);
    EXPECT_EQ(groups.group->getRank(), all.getRank() % 6);
    EXPECT_EQ(groups.group->getSize(), 6u);
  });
}

static std::string checkAlone(uint32_t pipelines, uint32_t groupSize,
                              uint32_t shards) {
  Model model(pipelines, groupSize);
  model.parameters[1].shards = shards;
  return checkGroups(model.descriptor, *createSelfTransport()).getMessage();
}

TEST(RankGroups, ThatCannotBeAreRefused) {
  EXPECT_EQ(checkAlone(4, 2, 2), "");
  EXPECT_EQ(checkAlone(2, 2, 2), "");
  EXPECT_EQ(checkAlone(3, 2, 2),
            "built for groups of 2 pipelines that share experts, but there are "
            "3; build all ranks together");
  EXPECT_EQ(checkAlone(4, 0, 2),
            "built for groups of 0 pipelines that share experts, but there are "
            "4; build all ranks together");
  EXPECT_EQ(checkAlone(4, 2, 4),
            "built for 4 parts of parameter 'experts', but for groups of 2 "
            "pipelines; build all ranks together");
}
