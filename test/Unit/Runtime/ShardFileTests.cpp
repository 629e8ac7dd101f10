//===- ShardFileTests.cpp - Shards of parameters in files -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "Ranks.h"
#include "core/Context.h"
#include "core/Weights.h"
#include "data/Safetensors.h"

#include <fstream>
#include <gtest/gtest.h>
#include <numeric>

using namespace pprt;

namespace {
constexpr int64_t shardShape[] = {2, 3}, otherShape[] = {1, 2};

/// Rank \p rank of a pipeline of two, in groups of two: with one that both
/// ranks have, whole, one of its own, and shards that it and both have.
struct Holder {
  explicit Holder(uint32_t rank) {
    parameters[0] = makeParameter("shared", 1, otherShape);
    parameters[1] = makeParameter(rank == 0 ? "w0" : "w1", 1, otherShape);
    parameters[2] =
        makeParameter(rank == 0 ? "experts0" : "experts1", 2, shardShape);
    parameters[3] = makeParameter("tied", 2, shardShape);
    for (uint32_t i = 0; i < 4; ++i)
      parameters[i].offset = 64 * i;
    descriptor.rank = rank;
    descriptor.ranks = 2;
    descriptor.dataParallel = 4;
    descriptor.expertParallel = 2;
    descriptor.arenaBytes = 256;
    descriptor.parameterCount = 4;
    descriptor.parameters = parameters;
  }

  static PprtParameter makeParameter(const char *name, uint32_t shards,
                                     const int64_t *shape) {
    PprtParameter parameter = {};
    parameter.tensor = {name, PPRT_F32, 2, shape,
                        shape[0] * shape[1] * sizeof(float)};
    parameter.shards = shards;
    parameter.trainable = 1;
    return parameter;
  }

  PprtParameter parameters[4];
  PprtDescriptor descriptor = {};
};

/// A file of tensors of the shapes, whose numbers differ.
class ShardFiles : public testing::Test {
protected:
  void write(const std::vector<int64_t> &expertShape) {
    SafetensorsIndex index;
    for (const char *name : {"shared", "w0", "w1"})
      index[name] = {PPRT_F32, {1, 2}, 0, 2 * sizeof(float)};
    uint64_t bytes = expertShape[0] * expertShape[1] * sizeof(float);
    for (const char *name : {"experts0", "experts1", "tied"})
      index[name] = {PPRT_F32, expertShape, 0, bytes};
    std::ofstream file(folder.getPath("weights"), std::ios::binary);
    std::string start = layOutSafetensors(index);
    file << start;
    std::vector<float> numbers((3 * 8 + 3 * bytes) / sizeof(float));
    std::iota(numbers.begin(), numbers.end(), 0.5f);
    file.write(reinterpret_cast<const char *>(numbers.data()),
               numbers.size() * sizeof(float));
  }

  TemporaryFolder folder;
};
} // namespace

TEST_F(ShardFiles, AreReadInPartsAndWrittenWhole) {
  write({4, 3});
  std::string weights = folder.getPath("weights");
  const Holder holders[] = {Holder(0), Holder(1)};
  runRanks(8, [&](Transport &all) {
    const Holder &holder = holders[all.getRank() % 2];
    RankOptions options;
    Progress progress;
    PprtContext context(holder.descriptor, options, all, progress);
    RankGroups &groups = context.groups;
    EXPECT_FALSE(context.device->start().failed());
    EXPECT_EQ(loadWeights(weights, holder.descriptor, groups.getPlace(),
                          *context.device)
                  .getMessage(),
              "");
    for (const PprtParameter &parameter : holder.parameters) {
      auto *value =
          reinterpret_cast<float *>(context.device->at(parameter.offset));
      std::vector<float> whole = readTensor(weights, parameter.tensor.name);
      size_t size = whole.size() / parameter.shards;
      auto begin = whole.begin() +
                   (parameter.shards == 1 ? 0 : all.getRank() / 2 % 2 * size);
      EXPECT_EQ(std::vector<float>(value, value + size),
                std::vector<float>(begin, begin + size))
          << parameter.tensor.name;
    }
    if (groups.getGroup() == 0)
      EXPECT_EQ(saveParameters(folder.getPath("saved"), holder.descriptor,
                               groups.getPlace(), *context.device,
                               *groups.group)
                    .getMessage(),
                "");
  });
  EXPECT_EQ(readFile(folder.getPath("saved")), readFile(weights));
}

TEST_F(ShardFiles, AFileOfOneShardIsRefused) {
  write({2, 3});
  const Holder holder(0);
  std::vector<std::unique_ptr<Transport>> transports =
      createThreadTransports(8);
  RankOptions options;
  Progress progress;
  PprtContext context(holder.descriptor, options, *transports[0], progress);
  EXPECT_FALSE(context.device->start().failed());
  std::string weights = folder.getPath("weights");
  EXPECT_EQ(
      loadWeights(weights, holder.descriptor, /*place=*/0, *context.device)
          .getMessage(),
      "'" + weights +
          "': tensor 'experts0' is 2x3 of f32, but the program needs 4x3 "
          "of f32");
}
