//===- ArenaTests.cpp - Buffers that share memory
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Program/Arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace pipewright;
using Buffers = std::vector<ArenaBuffer>;

TEST(PackBuffers, BuffersOfDifferentTimesShareMemory) {
  Packing packing = packBuffers({{100, {0, 1}}, {128, {2, 3}}, {1, {4, 4}}});
  EXPECT_EQ(packing.bytes, 128);
  EXPECT_EQ(packing.offsets, (llvm::SmallVector<int64_t>{0, 0, 0}));
}

TEST(PackBuffers, BuffersOfOnePositionDoNot) {
  // The first is still read by the action that makes the second.
  Packing packing = packBuffers({{100, {0, 1}}, {64, {1, 2}}});
  EXPECT_EQ(packing.offsets, (llvm::SmallVector<int64_t>{0, 128}));
  EXPECT_EQ(packing.bytes, 192);
}

TEST(PackBuffers, SmallBuffersFillGaps) {
  // The second leaves a gap while the first is not there.
  Packing packing = packBuffers({{256, {0, 1}}, {192, {1, 3}}, {128, {2, 3}}});
  EXPECT_EQ(packing.bytes, 448);
}

TEST(PackBuffers, UnusedBuffersTakeNothing) {
  EXPECT_EQ(packBuffers({}).bytes, 0);
  EXPECT_EQ(packBuffers({{100, Lifetime()}, {64, {0, 1}}}).bytes, 64);
}

TEST(PackBuffers, EqualBuffersNeedNoMoreThanMeet) {
  // Micro-batches of one value, in any order.
  Buffers buffers;
  for (int64_t i = 0; i < 50; ++i)
    buffers.push_back({64, {(i * 37) % 50, (i * 37) % 50 + i % 7}});
  llvm::SmallVector<int64_t> live = countLiveBytes(buffers, 60);
  EXPECT_EQ(packBuffers(buffers).bytes,
            *std::max_element(live.begin(), live.end()));
}

TEST(CountLiveBytes, AddsWhatLivesAtEachPosition) {
  EXPECT_EQ(countLiveBytes({{64, {0, 1}}, {1, {1, 2}}, {9, Lifetime()}}, 4),
            (llvm::SmallVector<int64_t>{64, 128, 64, 0}));
}

static bool shareBytes(const Packing &packing, const Buffers &buffers, size_t a,
                       size_t b) {
  return packing.offsets[a] < packing.offsets[b] + buffers[b].bytes &&
         packing.offsets[b] < packing.offsets[a] + buffers[a].bytes;
}

static Buffers makeRandomBuffers(std::mt19937 &random) {
  Buffers buffers(random() % 60 + 1);
  for (ArenaBuffer &buffer : buffers) {
    int64_t first = random() % 40;
    buffer = {static_cast<int64_t>(random() % 1000 + 1),
              {first, first + static_cast<int64_t>(random() % 12)}};
  }
  return buffers;
}

TEST(PackBuffers, RandomBuffersNeverCollide) {
  std::mt19937 random(1);
  double excess = 0;
  constexpr int rounds = 1000;
  for (int round = 0; round < rounds; ++round) {
    Buffers buffers = makeRandomBuffers(random);
    Packing packing = packBuffers(buffers);
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(packing.offsets[a] % arenaAlignment, 0);
      EXPECT_LE(packing.offsets[a] + buffers[a].bytes, packing.bytes);
      for (size_t b = 0; b < a; ++b)
        EXPECT_FALSE(buffers[a].lifetime.meets(buffers[b].lifetime) &&
                     shareBytes(packing, buffers, a, b))
            << "round " << round << ": " << a << " and " << b;
    }
    // No packing is smaller than what lives at one time.
    llvm::SmallVector<int64_t> live = countLiveBytes(buffers, 60);
    int64_t least = *std::max_element(live.begin(), live.end());
    ASSERT_GE(packing.bytes, least);
    excess += static_cast<double>(packing.bytes) / least - 1;
  }
  EXPECT_LT(excess / rounds, 0.05);
}
