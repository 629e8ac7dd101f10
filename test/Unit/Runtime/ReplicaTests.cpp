//===- ReplicaTests.cpp - Several pipelines train one model ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ranks.h"
#include "core/Context.h"
#include "launch/Collectives.h"

#include <gtest/gtest.h>

using namespace pprt;

TEST(GroupTransport, NumbersItsRanksAnew) {
  std::vector<std::vector<uint32_t>> seen(6);
  runRanks(6, [&](Transport &all) {
    uint32_t rank = all.getRank();
    // Two pipelines of three ranks.
    auto pipeline = createGroupTransport(all, rank / 3 * 3, 1, 3);
    auto twins = createGroupTransport(all, rank % 3, 3, 2);
    EXPECT_EQ(pipeline->getSize(), 3u);
    EXPECT_EQ(twins->getSize(), 2u);
    std::vector<uint32_t> gathered(3);
    gather(*pipeline, &rank, sizeof rank, gathered.data());
    seen[rank] = {pipeline->getRank(), twins->getRank()};
    if (pipeline->getRank() == 0)
      EXPECT_EQ(gathered, (std::vector<uint32_t>{rank, rank + 1, rank + 2}));
    uint32_t first = rank;
    broadcast(*twins, &first, sizeof first);
    EXPECT_EQ(first, rank % 3);
  });
  for (uint32_t rank = 0; rank < 6; ++rank)
    EXPECT_EQ(seen[rank], (std::vector<uint32_t>{rank % 3, rank / 3}));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
/// A rank with one parameter, whose gradient is where its arena begins.
struct Model {
  Model(int64_t count, bool isWide) {
    uint64_t bytes = count * (isWide ? sizeof(double) : sizeof(float));
    parameter.tensor = {"w", isWide ? PPRT_F64 : PPRT_F32, 1, nullptr, bytes};
    parameter.trainable = 1;
    parameter.shards = 1;
    descriptor.ranks = 1;
    descriptor.dataParallel = 3;
    descriptor.expertParallel = 1;
    descriptor.reductionOffset = (bytes + 63) / 64 * 64;
    descriptor.arenaBytes = 2 * descriptor.reductionOffset;
    descriptor.microbatches = 2;
    descriptor.parameterCount = 1;
    descriptor.parameters = &parameter;
  }

  PprtParameter parameter = {};
  PprtDescriptor descriptor = {};
};
} // namespace

template <typename RealTy>
static void checkSum(int64_t count, bool isLate) {
  Model model(count, sizeof(RealTy) == sizeof(double));
  std::vector<std::vector<RealTy>> sums(3);
  runRanks(3, [&](Transport &all) {
    RankOptions options;
    Progress progress;
    PprtContext context(model.descriptor, options, all, progress);
    EXPECT_FALSE(context.device->start().failed());
    auto *gradient = reinterpret_cast<RealTy *>(context.device->at(0));
    for (int64_t i = 0; i < count; ++i)
      gradient[i] = RealTy(i + 1) * RealTy(all.getRank() == 1 ? 0.25 : 1.1);
    if (isLate) {
      uint32_t parameters[] = {0};
      pprtAllReduce(&context, parameters, 1);
      finishReductions(context);
    } else {
      reduceGradient(context, 0);
    }
    sums[all.getRank()].assign(gradient, gradient + count);
  });
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
  for (int64_t i = 0; i < count; ++i)
    EXPECT_NEAR(sums[0][i], (i + 1) * 2.45, 1e-5 * (i + 1));
}

TEST(Replicas, AddTheirGradients) {
  // Parts of several numbers, of one, and none for the last.
  for (int64_t count : {1, 2, 3, 4, 7, 1000}) {
    checkSum<float>(count, /*isLate=*/false);
    checkSum<double>(count, /*isLate=*/true);
  }
}

TEST(Replicas, HaveMicrobatchesOfTheirOwn) {
  Model model(1, /*isWide=*/false);
  std::vector<std::vector<uint32_t>> seen(3);
  runRanks(3, [&](Transport &all) {
    RankOptions options;
    Progress progress;
    PprtContext context(model.descriptor, options, all, progress);
    seen[all.getRank()] = {context.getGlobal(0), context.getGlobal(1)};
  });
  EXPECT_EQ(seen, (std::vector<std::vector<uint32_t>>{{0, 1}, {2, 3}, {4, 5}}));
}
