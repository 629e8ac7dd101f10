//===- WaveTests.cpp - Schedules in a V or in waves that are computed
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormulaGrid.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace pipewright;

/// Any shape and any times: at most \p limit activations, one copy, and one
/// message per stage that crosses ranks.
static void checkEveryV(StringRef name,
                        function_ref<int64_t(int64_t ranks)> getLimit) {
  for (double p : {1, 2, 3, 4, 5, 6, 8})
    for (double m = 1; m <= 3 * p; m += m < p ? 1 : 3)
      for (const StageCost &cost : getRatios()) {
        Point point = {p, m, cost.f, cost.b, cost.w, .25, 2};
        Figures figures = simulate(name, point);
        EXPECT_LE(figures.peak(), getLimit(p)) << point;
        EXPECT_EQ(figures.copies, 1) << point;
        EXPECT_EQ(figures.messages, 4 * (p - 1) * m) << point;
      }
}

TEST(Wave, VHalf) {
  auto getPeak = [](int64_t p) { return 2 * ((p + 2) / 2); };
  checkEveryV("v-half", getPeak);
  for (int64_t p = 3; p <= 16; ++p)
    for (int64_t m = 2 * p; m <= 4 * p; m += p / 2) {
      Point point = {double(p), double(m), 1, 1, 1, 0, 2};
      Figures figures = simulate("v-half", point);
      EXPECT_EQ(figures.spanBubble, p % 2 == 0 ? 3 * p - 7 : 3 * p - 4)
          << point;
      EXPECT_EQ(figures.peak(), getPeak(p)) << point;
    }
}

TEST(Wave, VMin) {
  auto getPeak = [](int64_t p) { return 2 * ((p + 4) / 3); };
  checkEveryV("v-min", getPeak);
  for (int64_t p = 3; p <= 16; ++p)
    for (int64_t m = 2 * p; m <= 4 * p; m += p / 2) {
      Point point = {double(p), double(m), 1, 1, 1, 0, 2};
      Figures figures = simulate("v-min", point);
      EXPECT_EQ(figures.spanBubble, p % 3 == 0 ? 4 * p - 7 : 4 * p - 5)
          << point;
      EXPECT_EQ(figures.peak(), getPeak(p)) << point;
    }
}

/// The last rank waits for the first micro-batch and after the last one; from
/// 2 P micro-batches on, one wave loses no more than that.
TEST(Wave, Hanayo) {
  for (double p : {1, 2, 3, 4, 6, 8, 16})
    for (double m = 1; m <= 4 * p; m += m < 2 * p ? 1 : std::floor(p / 2) + 1)
      for (double v : {2, 4, 8}) {
        Point point = {p, m, 1, 1, 1, 0, v};
        Figures figures = simulate("hanayo", point);
        double bound = (p - 1) * (point.f + point.bw());
        EXPECT_GE(figures.bubble, bound) << point;
        if (v == 2 && m >= 2 * p)
          EXPECT_EQ(figures.bubble, bound) << point;
        EXPECT_EQ(figures.copies, 1) << point;
        EXPECT_EQ(figures.messages, 2 * v * (p - 1) * m) << point;
      }
}

/// The order follows the times: with those it was made for it is no slower
/// than with equal ones.
TEST(Wave, HanayoFollowsTheCosts) {
  ScheduleRequest request(4, 16, 4);
  request.costs.share = {4, 12, 4};
  request.costs.latency = .5;
  Expected<Schedule> made = buildSchedule("hanayo", request);
  ASSERT_TRUE(bool(made)) << toString(made.takeError());
  Expected<CostModel> costs = makeCosts(*made, request.costs);
  ASSERT_TRUE(bool(costs)) << toString(costs.takeError());
  Schedule plain = build("hanayo", {4, 16, 1, 1, 1, 0, 4});
  EXPECT_LT(pipewright::simulate(*made, *costs).makespan,
            pipewright::simulate(plain, *costs).makespan);
}

TEST(Wave, RefusesOddChunks) {
  for (auto [name, chunks, message] :
       {std::tuple("hanayo", 3,
                   "needs an even number of chunks per rank, not 3; use 2 or "
                   "4"),
        std::tuple("v-half", 1, "needs 2 chunks per rank, not 1; use 2"),
        std::tuple("v-min", 4, "needs 2 chunks per rank, not 4; use 2")}) {
    Expected<Schedule> schedule = buildSchedule(name, {4, 8, chunks});
    ASSERT_FALSE(bool(schedule));
    EXPECT_EQ(toString(schedule.takeError()),
              std::string("schedule '") + name + "' " + message);
  }
}
