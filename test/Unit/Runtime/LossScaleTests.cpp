//===- LossScaleTests.cpp - The scale of each step ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/LossScale.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

using namespace pprt;

static LossScaleOptions parse(std::string_view text) {
  LossScaleOptions options;
  EXPECT_TRUE(parseLossScale(text, options)) << text;
  return options;
}

/// The scales of the steps whose outcomes \p steps shows: x overflows.
static std::vector<float> getScales(std::string_view options,
                                    const std::string &steps) {
  LossScale scale(parse(options));
  std::vector<float> scales;
  for (char step : steps) {
    scales.push_back(scale.get());
    scale.update(step == 'x');
  }
  return scales;
}

TEST(LossScale, StaticScaleStays) {
  EXPECT_EQ(getScales("8", "x.xx"), (std::vector<float>{8, 8, 8, 8}));
  EXPECT_TRUE(parse("8").isUsed());
  EXPECT_TRUE(parse("0.5").isUsed());
  EXPECT_FALSE(parse("1").isUsed());
  EXPECT_FALSE(LossScaleOptions().isUsed());
}

// torch.amp.GradScaler's defaults: 2^16, 0.5, 2, 2000.
TEST(LossScale, DynamicScaleHasTheUsualConstants) {
  LossScaleOptions options = parse("dynamic");
  EXPECT_TRUE(options.isUsed());
  LossScale scale(options);
  EXPECT_EQ(scale.get(), 65536);
  for (int step = 0; step < 1999; ++step)
    scale.update(/*overflowed=*/false);
  EXPECT_EQ(scale.get(), 65536);
  scale.update(false);
  EXPECT_EQ(scale.get(), 131072);
  scale.update(true);
  EXPECT_EQ(scale.get(), 65536);
}

// Steps count in a row, and from the last change on.
TEST(LossScale, GrowsAfterGoodStepsInARow) {
  EXPECT_EQ(
      getScales("dynamic,init=16,growth-interval=3", ".x..x......x...."),
      (std::vector<float>{16, 16, 8, 8, 8, 4, 4, 4, 8, 8, 8, 16, 8, 8, 8, 16}));
}

TEST(LossScale, StaysInItsLimits) {
  EXPECT_EQ(getScales("dynamic,init=3", "xxx"),
            (std::vector<float>{3, 1.5f, 1}));
  LossScale low(parse("dynamic,init=1.5"));
  EXPECT_TRUE(low.canFall());
  low.update(true);
  EXPECT_FALSE(low.canFall());
  EXPECT_FALSE(LossScale(parse("8")).canFall());
  EXPECT_EQ(getScales("dynamic,init=1.0e38,growth-interval=1", "..."),
            (std::vector<float>{1e38f, 2e38f, 2e38f}));
}

TEST(LossScale, SettingsComeInAnyOrder) {
  LossScaleOptions options = parse("dynamic,growth-interval=5,init=1024");
  EXPECT_EQ(options.initial, 1024);
  EXPECT_EQ(options.growthInterval, 5);
}

TEST(LossScale, MistakesAreRefused) {
  for (const char *text : {"",
                           "0",
                           "-1",
                           "inf",
                           "nan",
                           "1e39",
                           "1e-40",
                           "2x",
                           "16,init=2",
                           "Dynamic",
                           "dynamics",
                           "dynamic,",
                           "dynamic,init",
                           "dynamic,init=",
                           "dynamic,init=0.5",
                           "dynamic,init=1e39",
                           "dynamic,growth-interval=0",
                           "dynamic,growth-interval=1.5",
                           "dynamic,init=2,",
                           "dynamic,backoff=2"}) {
    LossScaleOptions options;
    EXPECT_FALSE(parseLossScale(text, options)) << text;
  }
}
