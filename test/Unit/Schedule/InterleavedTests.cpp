//===- InterleavedTests.cpp - Schedules of several chunks in loops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormulaGrid.h"

#include "pipewright/Schedule/Checker.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace pipewright;

static void forEachPoint(function_ref<void(const Point &)> check) {
  for (double p : {1, 2, 3, 4, 6, 8, 16})
    for (double v : {1, 2, 4})
      for (double m = 1; m <= 4 * p; m += m < p ? 1 : p / 2)
        check({p, std::floor(m), 1, 1, 1, 0, v});
}

/// Calls \p check with \p point at other times.
static void forEachCost(Point point, function_ref<void(const Point &)> check) {
  for (const StageCost &cost : getRatios())
    for (double l : {0., .25, 1.}) {
      point.f = cost.f, point.b = cost.b, point.w = cost.w, point.l = l;
      check(point);
    }
}

/// The largest group if M is split into equal ones of at least P.
static double getGroup(const Point &point) {
  return std::ceil(point.m / std::floor(point.m / point.p));
}

TEST(Interleaved, OneFOneB) {
  forEachPoint([](const Point &shape) {
    double p = shape.p, m = shape.m, v = shape.v;
    Figures figures = simulate("interleaved-1f1b", shape);
    EXPECT_EQ(figures.messages, 2 * (p * v - 1) * m * (p > 1)) << shape;
    EXPECT_EQ(figures.copies, 1) << shape;
    if (m < p) {
      // No worse than with one micro-batch per rank.
      Point full = shape;
      full.m = p;
      EXPECT_LE(figures.makespan, simulate("interleaved-1f1b", full).makespan)
          << shape;
      return;
    }
    for (int64_t rank = 0; rank < p; ++rank)
      EXPECT_EQ(
          figures.peaks[rank],
          std::min(m * v, (v - 1) * getGroup(shape) + 2 * (p - 1 - rank) + 1))
          << shape << ", rank " << rank;
    forEachCost(shape, [&](const Point &point) {
      double f = point.f, bw = point.bw(), l = point.l;
      bool isLate = l > (v == 1 ? (f + bw) / 2 : std::min(f, bw));
      if (isLate || (l > 0 && std::fmod(m, p) != 0))
        return;
      EXPECT_NEAR(simulate("interleaved-1f1b", point).bubble,
                  (p - 1) * (f + bw) +
                      l * (2 * (p - 1) + (p > 1 ? 2 * (v - 1) * p : 0)),
                  1e-9)
          << point;
    });
  });
}

TEST(Interleaved, LoopedBFS) {
  forEachPoint([](const Point &shape) {
    double p = shape.p, m = shape.m, v = shape.v;
    Figures figures = simulate("looped-bfs", shape);
    EXPECT_EQ(figures.peaks, std::vector<double>(p, m * v)) << shape;
    EXPECT_EQ(figures.messages, 2 * (p * v - 1) * m * (p > 1)) << shape;
    EXPECT_EQ(figures.copies, 1) << shape;
    forEachCost(shape, [&](const Point &point) {
      if (point.l != 0)
        return;
      double pass = point.f + point.bw();
      EXPECT_NEAR(simulate("looped-bfs", point).bubble,
                  (p - 1) * pass + (v - 1) * std::max(0., p - m) * pass, 1e-9)
          << point;
    });
  });
}

static Expected<Schedule> buildGrouped(const ScheduleShape &shape,
                                       int64_t group) {
  ScheduleRequest request(shape);
  request.group = group;
  return buildSchedule("interleaved-1f1b", request);
}

/// A group may be as large as all micro-batches; the last one may be smaller.
TEST(Interleaved, GroupSizes) {
  for (int64_t p : {1, 2, 3, 5, 8})
    for (int64_t m = 1; m <= 3 * p; ++m)
      for (int64_t group = p; group <= std::max(p, m); ++group)
        for (int64_t v : {1, 2, 3}) {
          Expected<Schedule> schedule = buildGrouped({p, m, v}, group);
          ASSERT_TRUE(bool(schedule)) << toString(schedule.takeError());
          EXPECT_EQ(toString(checkSchedule(*schedule)), "")
              << p << " ranks, " << m << " micro-batches, " << v
              << " chunks, groups of " << group;
          if (m % group != 0)
            continue;
          std::vector<double> peaks = getPeakActivations(*schedule);
          for (int64_t rank = 0; rank < p; ++rank)
            EXPECT_EQ(
                peaks[rank] * v,
                std::min(m * v, (v - 1) * group + 2 * (p - 1 - rank) + 1));
        }
}

TEST(Interleaved, RefusesGroupsOutOfRange) {
  for (auto [group, message] :
       {std::pair(3, "needs groups of at least one micro-batch per rank, here "
                     "4, not 3; use 4"),
        std::pair(9, "needs groups of at most all micro-batches, here 8, not "
                     "9; use 8")}) {
    Expected<Schedule> schedule = buildGrouped({4, 8, 2}, group);
    ASSERT_FALSE(bool(schedule));
    EXPECT_EQ(toString(schedule.takeError()),
              std::string("schedule 'interleaved-1f1b' ") + message);
  }
}
