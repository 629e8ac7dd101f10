//===- ZeroBubbleTests.cpp - Schedules that split the backward
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormulaGrid.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace pipewright;

static void forEachPoint(function_ref<void(const Point &)> check) {
  for (double p : {1, 2, 3, 4, 6, 8, 16})
    for (double m = 1; m <= 4 * p; m += m < 2 * p ? 1 : p / 2)
      for (const StageCost &cost : getRatios())
        check({p, std::floor(m), cost.f, cost.b, cost.w});
}

TEST(ZeroBubble, H1) {
  forEachPoint([](const Point &point) {
    double p = point.p, m = point.m, f = point.f, b = point.b, w = point.w;
    Figures figures = simulate("zb-h1", point);
    EXPECT_EQ(figures.peaks, std::vector<double>(p, std::min(m, p))) << point;
    EXPECT_EQ(figures.copies, 1) << point;
    EXPECT_EQ(figures.messages, 2 * (p - 1) * m) << point;
    if (m < p)
      return;
    EXPECT_NEAR(figures.bubble, (p - 1) * std::max({f + b - w, b, f}), 1e-9)
        << point;
    EXPECT_NEAR(figures.spanBubble, (p - 1) * std::max(f + b - w, b), 1e-9)
        << point;
  });
}

TEST(ZeroBubble, H2) {
  forEachPoint([](const Point &point) {
    double p = point.p, m = point.m, f = point.f, b = point.b, w = point.w;
    Figures figures = simulate("zb-h2", point);
    EXPECT_EQ(figures.copies, 1) << point;
    EXPECT_EQ(figures.messages, 2 * (p - 1) * m) << point;
    if (m < 2 * p - 1)
      return;
    EXPECT_EQ(figures.peaks, std::vector<double>(p, 2 * p - 1)) << point;
    EXPECT_NEAR(figures.spanBubble,
                (p - 1) * std::max({f + b - 2 * w, b - f, 0.}), 1e-9)
        << point;
    if (f == b && b == w)
      EXPECT_NEAR(figures.bubble, (p - 1) * f, 1e-9) << point;
  });
}

TEST(ZeroBubble, Interleaved) {
  forEachPoint([](const Point &shape) {
    for (double v : {1, 2, 4}) {
      Point point = shape;
      point.v = v;
      double p = point.p, m = point.m, f = point.f, b = point.b, w = point.w;
      Figures figures = simulate("interleaved-zb", point);
      EXPECT_EQ(figures.copies, 1) << point;
      EXPECT_EQ(figures.messages, 2 * (p * v - 1) * m * (p > 1)) << point;
      if (m < p)
        continue;
      // The largest of the equal groups that M is split into.
      double group = std::ceil(m / std::floor(m / p));
      double peak = std::min(m * v, (v - 1) * group + p);
      EXPECT_EQ(figures.peaks, std::vector<double>(p, peak)) << point;
      EXPECT_NEAR(figures.bubble, (p - 1) * std::max({f + b - w, b, f}), 1e-9)
          << point;
    }
  });
}

TEST(ZeroBubble, V) {
  forEachPoint([](const Point &shape) {
    Point point = shape;
    point.v = 2;
    double p = point.p, m = point.m, f = point.f, b = point.b, w = point.w;
    Figures figures = simulate("zb-v", point);
    EXPECT_EQ(figures.copies, 1) << point;
    EXPECT_EQ(figures.messages, 4 * (p - 1) * m) << point;
    EXPECT_LE(figures.peak(), 2 * p) << point;
    bool isEqual = f == b && b == w;
    if (m < 2 * p - 1) {
      if (isEqual)
        EXPECT_NEAR(figures.spanBubble, 2 * (2 * p - 1 - m) * f, 1e-9) << point;
      return;
    }
    EXPECT_EQ(figures.peaks, std::vector<double>(p, 2 * p)) << point;
    if (w <= f && f <= b)
      EXPECT_NEAR(figures.spanBubble, 2 * (p - 1) * (b - w), 1e-9) << point;
    if (isEqual)
      EXPECT_NEAR(figures.bubble, (p - 1) * f, 1e-9) << point;
  });
}

/// The most that \p rank holds if B frees all of an activation but the part
/// \p kept, which W needs.
static double getWeightedPeak(const Schedule &schedule, int64_t rank,
                              double kept) {
  double held = 0, peak = 0;
  for (const Action &action : schedule.getActions(rank)) {
    if (action.kind == ActionKind::F)
      peak = std::max(peak, ++held);
    if (action.kind == ActionKind::B)
      held -= 1 - kept;
    if (action.kind == ActionKind::W)
      held -= kept;
  }
  return peak;
}

TEST(ZeroBubble, MemoryThatOnlyWeightGradientsKeep) {
  for (double p : {1, 2, 3, 4, 6, 8, 16})
    for (double m : {2 * p - 1, 2 * p, 4 * p})
      for (double kept : {.25, .5, 1.})
        for (int64_t rank = 0; rank < p; ++rank) {
          EXPECT_DOUBLE_EQ(getWeightedPeak(build("zb-h1", {p, m}), rank, kept),
                           p - rank + rank * kept)
              << p << " ranks, " << m << " micro-batches, rank " << rank;
          EXPECT_DOUBLE_EQ(getWeightedPeak(build("zb-h2", {p, m}), rank, kept),
                           2 * (p - rank) - 1 + 2 * rank * kept)
              << p << " ranks, " << m << " micro-batches, rank " << rank;
        }
}
