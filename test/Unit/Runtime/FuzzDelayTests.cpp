//===- FuzzDelayTests.cpp - Random delays, to find races ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/FuzzDelay.h"

#include <gtest/gtest.h>
#include <numeric>
#include <vector>

using namespace pprt;

static std::vector<int64_t> draw(std::optional<uint64_t> seed, uint32_t rank) {
  FuzzDelay delay(seed, rank);
  std::vector<int64_t> drawn(1000);
  for (int64_t &microseconds : drawn)
    microseconds = delay.drawMicroseconds();
  return drawn;
}

TEST(FuzzDelay, IsOffWithoutASeed) {
  EXPECT_EQ(draw(std::nullopt, 3), std::vector<int64_t>(1000, 0));
}

TEST(FuzzDelay, IsAFunctionOfSeedAndRank) {
  EXPECT_EQ(draw(7, 1), draw(7, 1));
  EXPECT_NE(draw(7, 1), draw(7, 2));
  EXPECT_NE(draw(7, 1), draw(8, 1));
  EXPECT_NE(draw(0, 0), std::vector<int64_t>(1000, 0));
}

// The mean of the fourth power of a number between 0 and 1 is 1/5.
TEST(FuzzDelay, IsShortOnAverage) {
  std::vector<int64_t> drawn = draw(5, 0);
  for (int64_t microseconds : drawn) {
    EXPECT_GE(microseconds, 0);
    EXPECT_LT(microseconds, FuzzDelay::longestMicroseconds);
  }
  double mean = std::accumulate(drawn.begin(), drawn.end(), 0.0) / drawn.size();
  EXPECT_NEAR(mean, FuzzDelay::longestMicroseconds / 5.0, 100);
}
