//===- BidirectionalTests.cpp - Schedules of two streams that meet
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormulaGrid.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace pipewright;

/// The bubble of DualPipe's eight steps with \p h ranks to the middle.
static double getDualPipeBubble(const Point &point, double h) {
  double pair = point.pair.value_or(point.f + point.bw());
  return (h - 1) * (pair + point.b - 2 * point.w) -
         std::min((h - 1) * (point.b - point.f), point.f);
}

/// Calls \p check with \p point at all times that the formula is for: W at
/// most B, and a pair that takes no longer than its two parts.
static void forEachPairCost(Point point,
                            function_ref<void(const Point &)> check) {
  for (const StageCost &cost : getRatios()) {
    if (cost.w > cost.b)
      continue;
    double sum = cost.f + cost.b + cost.w;
    point.f = cost.f, point.b = cost.b, point.w = cost.w;
    for (std::optional<double> pair :
         {std::optional<double>(), std::optional<double>(sum),
          std::optional<double>(sum - cost.f / 2)}) {
      point.pair = pair;
      check(point);
    }
  }
}

TEST(Bidirectional, DualPipe) {
  for (double p : {2, 4, 6, 8, 16})
    for (double m = 2 * p; m <= 4 * p; m += 2)
      forEachPairCost({p, m}, [&](const Point &point) {
        Figures figures = simulate("dualpipe", point);
        EXPECT_NEAR(figures.bubble, getDualPipeBubble(point, p / 2), 1e-9)
            << point;
        EXPECT_EQ(figures.peaks, std::vector<double>(p, p + 1)) << point;
        EXPECT_EQ(figures.copies, 2) << point;
        EXPECT_EQ(figures.messages, 2 * (p - 1) * m) << point;
      });
}

TEST(Bidirectional, DualPipeV) {
  for (double p : {1, 2, 3, 4, 6, 8, 16})
    for (double m = 2 * p; m <= 4 * p; m += std::max(1., std::floor(p / 3)))
      forEachPairCost({p, m}, [&](Point point) {
        point.v = 2;
        Figures figures = simulate("dualpipev", point);
        EXPECT_NEAR(figures.bubble, getDualPipeBubble(point, p), 1e-9) << point;
        EXPECT_EQ(figures.peaks, std::vector<double>(p, 2 * p + 1)) << point;
        EXPECT_EQ(figures.copies, 1) << point;
        EXPECT_EQ(figures.messages, 4 * (p - 1) * m) << point;
      });
}

TEST(Bidirectional, Chimera) {
  for (double p : {2, 4, 6, 8, 16})
    for (double units : {1, 2, 3, 4})
      for (const StageCost &cost : getRatios()) {
        Point point = {p, units * p, cost.f, cost.b, cost.w};
        double m = point.m, f = point.f, bw = point.bw();
        Figures figures = simulate("chimera", point);
        EXPECT_NEAR(figures.bubble,
                    (p - 2) * std::max(f, bw) +
                        (units - 1) * (p - 2) * std::abs(bw - f),
                    1e-9)
            << point;
        for (int64_t rank = 0; rank < p; ++rank)
          EXPECT_EQ(figures.peaks[rank],
                    std::min<double>(rank, p - 1 - rank) + p / 2 + 1)
              << point << ", rank " << rank;
        EXPECT_EQ(figures.copies, 2) << point;
        EXPECT_EQ(figures.messages, 2 * (p - 1) * m) << point;
      }
}

/// F = BW: a share of (p - 2) / (2m + p - 2).
TEST(Bidirectional, ChimeraWithEqualTimes) {
  for (double p : {4, 8}) {
    Point point = {p, 2 * p, 2, 1, 1};
    Figures figures = simulate("chimera", point);
    EXPECT_NEAR(figures.bubble / figures.makespan,
                (p - 2) / (2 * point.m + p - 2), 1e-12);
  }
}

TEST(Bidirectional, RefusesWhatDoesNotMeet) {
  for (auto [name, shape, message] :
       {std::tuple("dualpipe", ScheduleShape{3, 12, 1},
                   "needs an even number of ranks, not 3; use 2 or 4"),
        std::tuple("dualpipe", ScheduleShape{1, 12, 1},
                   "needs an even number of ranks, not 1; use 2"),
        std::tuple("dualpipe", ScheduleShape{4, 9, 1},
                   "needs an even number of micro-batches, not 9; use 8 or 10"),
        std::tuple("dualpipe", ScheduleShape{4, 7, 1},
                   "needs at least two micro-batches per rank, here 8, not 7; "
                   "use 8"),
        std::tuple("dualpipe", ScheduleShape{4, 8, 2},
                   "needs 1 chunk per rank, not 2; use 1"),
        std::tuple("dualpipev", ScheduleShape{4, 7, 2},
                   "needs at least two micro-batches per rank, here 8, not 7; "
                   "use 8"),
        std::tuple("dualpipev", ScheduleShape{4, 8, 1},
                   "needs 2 chunks per rank, not 1; use 2"),
        std::tuple("chimera", ScheduleShape{5, 10, 1},
                   "needs an even number of ranks, not 5; use 4 or 6"),
        std::tuple("chimera", ScheduleShape{4, 10, 1},
                   "needs a multiple of 4 micro-batches, not 10; use 8 or "
                   "12")}) {
    Expected<Schedule> schedule = buildSchedule(name, shape);
    ASSERT_FALSE(bool(schedule));
    EXPECT_EQ(toString(schedule.takeError()),
              std::string("schedule '") + name + "' " + message);
  }
}
