//===- FormulaTests.cpp - Simulated times against published formulas
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/ScheduleRegistry.h"
#include "pipewright/Schedule/Simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace pipewright;

static Schedule build(StringRef name, int64_t ranks, int64_t microbatches) {
  Expected<Schedule> schedule = buildSchedule(name, {ranks, microbatches, 1});
  if (!schedule)
    ADD_FAILURE() << toString(schedule.takeError());
  return std::move(*schedule);
}

namespace {
/// One point of the grid: p ranks, m micro-batches, F, B, W, L.
struct Point {
  double p, m, f, b, w, l;
  double bw() const { return b + w; }
  /// The makespan bubble of \p name.
  double bubble(StringRef name) const {
    Schedule schedule = build(name, p, m);
    Timeline timeline =
        simulate(schedule, makeUniformCosts(schedule, {f, b, w}, l));
    return timeline.makespan - m * (f + bw());
  }
};
} // namespace

static void forEachPoint(function_ref<void(const Point &)> check) {
  for (double p : {1, 2, 3, 4, 7, 8})
    for (double m : {1, 2, 3, 4, 7, 8, 13, 32})
      for (auto [f, b, w] : {std::tuple(1., 1., 1.), std::tuple(2., 3., 1.),
                             std::tuple(5., 1., 2.), std::tuple(1., 4., 4.)})
        for (double l : {0., .25})
          check({p, m, f, b, w, l});
}

TEST(Formula, GPipeBubble) {
  forEachPoint([](const Point &point) {
    double expected =
        (point.p - 1) * (point.f + point.bw()) + 2 * (point.p - 1) * point.l;
    EXPECT_NEAR(point.bubble("gpipe"), expected, 1e-9)
        << point.p << " ranks, " << point.m << " micro-batches";
  });
}

TEST(Formula, OneFOneBBubble) {
  forEachPoint([](const Point &point) {
    double p = point.p, m = point.m;
    double x = (p - 1) * std::floor((m - 1) / p) +
               std::max(0., std::fmod(m - 1, p) - 1);
    double expected =
        (p - 1) * (point.f + point.bw() + 2 * point.l) + 2 * point.l * x;
    EXPECT_NEAR(point.bubble("1f1b"), expected, 1e-9)
        << p << " ranks, " << m << " micro-batches";
  });
}

/// Holds as long as a message and its answer take no longer than a micro-batch.
TEST(Formula, EagerOneFOneBBubble) {
  forEachPoint([](const Point &point) {
    double expected = (point.p - 1) * (point.f + point.bw() + 2 * point.l);
    EXPECT_NEAR(point.bubble("eager-1f1b"), expected, 1e-9)
        << point.p << " ranks, " << point.m << " micro-batches";
  });
}

TEST(Formula, ZBH1Bubble) {
  forEachPoint([](const Point &point) {
    if (point.m < point.p || point.l != 0)
      return;
    double f = point.f, b = point.b, w = point.w;
    double expected = (point.p - 1) * std::max({f + b - w, b, f});
    EXPECT_NEAR(point.bubble("zb-h1"), expected, 1e-9)
        << point.p << " ranks, " << point.m << " micro-batches";
  });
}

TEST(Formula, PeakActivations) {
  forEachPoint([](const Point &point) {
    std::vector<double> gpipe =
        getPeakActivations(build("gpipe", point.p, point.m));
    std::vector<double> oneFOneB =
        getPeakActivations(build("1f1b", point.p, point.m));
    std::vector<double> eager =
        getPeakActivations(build("eager-1f1b", point.p, point.m));
    std::vector<double> zbh1 =
        getPeakActivations(build("zb-h1", point.p, point.m));
    for (int64_t rank = 0; rank < point.p; ++rank) {
      EXPECT_EQ(gpipe[rank], point.m);
      EXPECT_EQ(eager[rank], std::min(point.m, 2 * (point.p - rank) - 1));
      EXPECT_EQ(zbh1[rank], std::min(point.m, point.p));
      EXPECT_EQ(oneFOneB[rank], std::min(point.m, point.p - rank));
    }
  });
}

/// GPipe with unequal stages: sum F + (m-1) max F + sum BW + (m-1) max BW.
TEST(Formula, GPipeWithUnequalStages) {
  std::vector<StageCost> stages = {{3, 1, 1}, {1, 4, 2}, {7, 2, 2}, {2, 1, 8}};
  for (int64_t m : {1, 2, 5, 9}) {
    Schedule schedule = build("gpipe", stages.size(), m);
    CostModel costs;
    costs.stages = stages;
    double sumF = 0, maxF = 0, sumBW = 0, maxBW = 0;
    for (const StageCost &stage : stages) {
      sumF += stage.f;
      maxF = std::max(maxF, stage.f);
      sumBW += stage.b + stage.w;
      maxBW = std::max(maxBW, stage.b + stage.w);
    }
    EXPECT_DOUBLE_EQ(simulate(schedule, costs).makespan,
                     sumF + (m - 1) * maxF + sumBW + (m - 1) * maxBW);
  }
}

/// F=B=W=1, p=8, m=32: makespan and the most micro-batches a rank holds.
TEST(Published, EightRanksThirtyTwoMicrobatches) {
  for (auto [name, makespan, peak] :
       {std::tuple("gpipe", 117., 32.), std::tuple("1f1b", 117., 8.),
        std::tuple("eager-1f1b", 117., 15.), std::tuple("zb-h1", 103., 8.)}) {
    Schedule schedule = build(name, 8, 32);
    Metrics metrics = measure(
        schedule, simulate(schedule, makeUniformCosts(schedule, {1, 1, 1})));
    EXPECT_DOUBLE_EQ(metrics.makespan, makespan) << name;
    EXPECT_NEAR(metrics.bubbleRatio, 1 - 96 / makespan, 1e-12) << name;
    EXPECT_EQ(metrics.idle, std::vector<double>(8, makespan - 96)) << name;
    EXPECT_EQ(*std::max_element(metrics.peakActivations.begin(),
                                metrics.peakActivations.end()),
              peak)
        << name;
  }
}

/// F=1, B=2: the golden makespans 15, 33 and 57.
TEST(Published, SmallShapes) {
  for (auto [p, m, makespan] :
       {std::tuple(2, 4, 15.), std::tuple(4, 8, 33.), std::tuple(4, 16, 57.)})
    for (StringRef name : {"gpipe", "1f1b"}) {
      Schedule schedule = build(name, p, m);
      CostModel costs = makeUniformCosts(schedule, {1, 1, 1});
      EXPECT_DOUBLE_EQ(simulate(schedule, costs).makespan, makespan);
    }
}

/// The share of the longest span of any rank in which it is idle.
static double getSpanRate(StringRef name, const Point &point) {
  Schedule schedule = build(name, point.p, point.m);
  StageCost share = {point.f, point.b, point.w};
  Timeline timeline =
      simulate(schedule, makeUniformCosts(schedule, share, point.l));
  double longest = 0;
  for (const std::vector<Timeline::Entry> &entries : timeline.ranks)
    longest = std::max(longest, entries.back().end - entries.front().start);
  return 1 - point.m * (point.f + point.bw()) / longest;
}

/// The zero-bubble paper's columns 1F1B and ZB-H1, with its measured times.
TEST(Published, SpanRates) {
  struct Row {
    Point point;
    double oneFOneB, zbh1;
  };
  for (const Row &row :
       {Row{{8, 24, 18.522, 18.086, 9.337, .601}, .2431, .1585},
        Row{{8, 32, 18.513, 18.086, 9.331, .626}, .1985, .1242},
        Row{{8, 64, 18.546, 18.097, 9.321, .762}, .1240, .0674},
        Row{{8, 24, 29.718, 29.444, 19.927, .527}, .2347, .1323},
        Row{{8, 32, 29.802, 29.428, 19.530, .577}, .1898, .1045},
        Row{{8, 64, 29.935, 29.621, 19.388, .535}, .1091, .0554},
        Row{{16, 48, 11.347, 11.248, 8.132, .377}, .2552, .1397},
        Row{{16, 64, 11.307, 11.254, 8.101, .379}, .2082, .1088},
        Row{{16, 128, 11.325, 11.308, 8.109, .378}, .1251, .0576},
        Row{{32, 96, 10.419, 10.207, 7.715, .408}, .2646, .1421},
        Row{{32, 128, 10.408, 10.204, 7.703, .408}, .2168, .1106},
        Row{{32, 256, 10.402, 10.248, 7.698, .460}, .1352, .0594}}) {
    EXPECT_NEAR(getSpanRate("1f1b", row.point), row.oneFOneB, 6e-5)
        << row.point.p << ' ' << row.point.m;
    EXPECT_NEAR(getSpanRate("zb-h1", row.point), row.zbh1, 6e-5)
        << row.point.p << ' ' << row.point.m;
  }
}

TEST(Costs, AreSharedByTheChunksOfARank) {
  Schedule schedule({2, 1, 2});
  CostModel costs = makeUniformCosts(schedule, {4, 2, 6}, 0.5, 10);
  ASSERT_EQ(costs.stages.size(), 4u);
  EXPECT_EQ(costs.stages[3].f, 2);
  EXPECT_EQ(costs.getDuration({ActionKind::BW, 1, 0}), 4);
  EXPECT_EQ(costs.getDuration({ActionKind::R, 1, 0}), 2);
  EXPECT_EQ(costs.latency, 0.5);
  Action pair{
      ActionKind::FB, 0, 0, 0, {{ActionKind::F, 0, 1}, {ActionKind::BW, 0, 0}}};
  EXPECT_EQ(costs.getDuration(pair), 5);
  costs.pair.reset();
  EXPECT_EQ(costs.getDuration(pair), 6);
}
