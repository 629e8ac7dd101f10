//===- SimulatorTests.cpp - Times and metrics worked out by hand
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/ScheduleRegistry.h"
#include "pipewright/Schedule/Simulator.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace llvm;
using namespace pipewright;

static Schedule build(StringRef name, int64_t ranks, int64_t microbatches) {
  Expected<Schedule> schedule = buildSchedule(name, {ranks, microbatches, 1});
  if (!schedule)
    ADD_FAILURE() << toString(schedule.takeError());
  return std::move(*schedule);
}

static Metrics measureUniform(const Schedule &schedule, const StageCost &cost,
                              double latency = 0) {
  return measure(schedule,
                 simulate(schedule, makeUniformCosts(schedule, cost, latency)));
}

//===----------------------------------------------------------------------===//
// Metrics
//===----------------------------------------------------------------------===//

/// The span bubble of ZB-H1 is (p - 1) max(F + B - W, B).
TEST(Metrics, SpanBubbleOfZBH1) {
  for (auto [f, b, w] : {std::tuple(1., 1., 1.), std::tuple(2., 3., 1.),
                         std::tuple(5., 1., 2.), std::tuple(1., 4., 4.)})
    for (int64_t p : {1, 2, 4, 8}) {
      Metrics metrics = measureUniform(build("zb-h1", p, 3 * p), {f, b, w});
      EXPECT_NEAR(metrics.spanBubble, (p - 1) * std::max(f + b - w, b), 1e-9)
          << p << " ranks, F " << f << ", B " << b << ", W " << w;
    }
}

/// Rates of the zero-bubble paper, of the span: 1.5B and 28.3B parameters.
TEST(Metrics, SpanBubbleRatioOfTheZeroBubblePaper) {
  auto ratio = [](StringRef name, int64_t p, int64_t m, const StageCost &cost,
                  double latency) {
    return measureUniform(build(name, p, m), cost, latency)
        .getSpanBubbleRatio();
  };
  EXPECT_NEAR(ratio("1f1b", 8, 24, {18.522, 18.086, 9.337}, .601), .2431, 5e-5);
  EXPECT_NEAR(ratio("zb-h1", 8, 24, {18.522, 18.086, 9.337}, .601), .1585,
              5e-5);
  EXPECT_NEAR(ratio("1f1b", 32, 96, {10.419, 10.207, 7.715}, .408), .2646,
              5e-5);
  EXPECT_NEAR(ratio("zb-h1", 32, 96, {10.419, 10.207, 7.715}, .408), .1421,
              5e-5);
}

TEST(Metrics, MessagesCrossRanksBothWays) {
  EXPECT_EQ(countMessages(build("1f1b", 4, 7)), 2 * 3 * 7);
  EXPECT_EQ(countMessages(build("1f1b", 1, 7)), 0);
  // A V of 2 p stages has its middle on one rank.
  EXPECT_EQ(countMessages(Schedule({4, 7, 2}, placeInWaves(4, 2))), 2 * 6 * 7);
  EXPECT_EQ(countMessages(buildForwardOnly({4, 7, 2}, placeInWaves(4, 2))),
            6 * 7);
  // Two directions share the micro-batches.
  EXPECT_EQ(countMessages(Schedule({4, 8, 1}, placeBothWays(4))), 2 * 3 * 8);
}

TEST(Metrics, PeaksWeighStages) {
  // Under GPipe every rank holds all micro-batches of its stage at once.
  std::vector<double> sizes = {10, 20, 5};
  EXPECT_EQ(getPeaks(build("gpipe", 3, 4), sizes),
            (std::vector<double>{40, 80, 20}));
  EXPECT_EQ(getPeaks(build("1f1b", 3, 4), sizes),
            (std::vector<double>{30, 40, 5}));
}
