//===- SearchTests.cpp - What the auto schedule promises
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../ZeroBubbleTable.h"

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/ScheduleRegistry.h"
#include "pipewright/Schedule/Search.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace llvm;
using namespace pipewright;

namespace {
struct Judged {
  double makespan;
  double span;
  double memory;
};

/// A fraction of the table's figure that rounding to four digits explains.
constexpr double rounding = 0.00005;
} // namespace

static Judged judge(const Schedule &schedule, const ScheduleRequest &request) {
  CostModel costs = cantFail(makeCosts(schedule, request.costs));
  Metrics metrics = measure(schedule, simulate(schedule, costs));
  return {metrics.makespan, metrics.span,
          *std::max_element(metrics.peakActivations.begin(),
                            metrics.peakActivations.end())};
}

/// Checks what must hold of each answer and judges it.
static Judged searchAndCheck(const ScheduleRequest &request) {
  Expected<Schedule> found = buildSchedule("auto", request);
  if (!found) {
    ADD_FAILURE() << toString(found.takeError());
    return {};
  }
  CheckOptions options;
  options.memoryLimit = request.memoryLimit;
  EXPECT_EQ(toString(checkSchedule(*found, options)), "");
  EXPECT_FALSE(found->getChosen().empty());
  EXPECT_LE(found->getDirections(), request.parameterCopies);
  return judge(*found, request);
}

/// Expects the answer to \p request to be at least as good as each registered
/// schedule that fits.
static void expectNeverWorse(const ScheduleRequest &request) {
  Judged found = searchAndCheck(request);
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries()) {
    if (info.isSearch)
      continue;
    Expected<Schedule> other = buildSchedule(info.name, request);
    if (!other) {
      consumeError(other.takeError());
      continue;
    }
    Judged its = judge(*other, request);
    if (other->getDirections() > request.parameterCopies ||
        its.memory > request.memoryLimit.value_or(its.memory))
      continue;
    bool isSpan = request.objective == Objective::Span;
    double mine = isSpan ? found.span : found.makespan;
    EXPECT_LE(mine, (isSpan ? its.span : its.makespan) * (1 + 1e-9))
        << info.name.str();
  }
}

TEST(Search, IsNeverWorseThanARegisteredSchedule) {
  const StageCost shares[] = {{1, 1, 1}, {2, 3, 1}, {1, 0.5, 2}, {1, 2, 0}};
  for (int64_t ranks : {1, 2, 4, 5})
    for (int64_t microbatches : {1, 3, 8})
      for (const StageCost &share : shares)
        for (double limit : {1.0, 2.5, 100.0}) {
          SCOPED_TRACE(std::to_string(ranks) + " ranks, " +
                       std::to_string(microbatches) + " micro-batches, w " +
                       std::to_string(share.w) + ", limit " +
                       std::to_string(limit));
          ScheduleRequest request(ranks, microbatches, /*chunks=*/0);
          request.costs.share = share;
          request.costs.latency = limit > 2 ? 0.3 : 0;
          request.memoryLimit = limit;
          bool isOdd = (ranks + microbatches) % 2 == 1;
          request.objective = isOdd ? Objective::Span : Objective::Makespan;
          expectNeverWorse(request);
        }
}

TEST(Search, IsNeverWorseWithUnequalStagesAndTwoCopies) {
  ScheduleRequest request(/*ranks=*/4, /*microbatches=*/8, /*chunks=*/0);
  request.parameterCopies = 2;
  request.costs.pair = 2;
  expectNeverWorse(request);
  request.costs.pair.reset();
  request.recompute = true;
  expectNeverWorse(request);
  for (int64_t stage = 0; stage < 8; ++stage)
    request.costs.stages.push_back({1.0 + stage % 3, 2.0, 0.5 * (stage % 4)});
  expectNeverWorse(request);
}

/// Of the schedules that a placement admits it is never worse than one either.
TEST(Search, KeepsThePlacement) {
  for (const std::vector<int64_t> &placement :
       {placeInLoops(/*ranks=*/3, /*chunks=*/2).front(),
        placeInWaves(/*ranks=*/3, /*chunks=*/2).front(),
        std::vector<int64_t>{2, 0, 1, 1, 2, 0}}) {
    ScheduleRequest request(/*ranks=*/3, /*microbatches=*/6, /*chunks=*/2);
    for (int64_t stage = 0; stage < 6; ++stage)
      request.costs.stages.push_back({1.0 + stage % 3, 2.0, 0.5 * (stage % 4)});
    request.placement = placement;
    Schedule found = cantFail(buildSchedule("auto", request));
    EXPECT_EQ(found.getPlacement(), Placement{placement});
    EXPECT_EQ(toString(checkSchedule(found)), "");
    int64_t others = 0;
    for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries()) {
      Expected<Schedule> other = buildSchedule(info.name, request);
      if (!other) {
        consumeError(other.takeError());
        continue;
      }
      if (info.isSearch || other->getPlacement() != Placement{placement})
        continue;
      ++others;
      EXPECT_LE(judge(found, request).makespan,
                judge(*other, request).makespan * (1 + 1e-9))
          << info.name.str();
    }
    // The last one is nobody's, so the search makes all of it.
    EXPECT_EQ(others > 0, placement.front() == 0);
  }
}

TEST(Search, RefusesAPlacementOfOtherStages) {
  ScheduleRequest request(/*ranks=*/2, /*microbatches=*/4, /*chunks=*/2);
  request.placement = {0, 1, 0};
  Expected<Schedule> found = buildSchedule("auto", request);
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(toString(found.takeError()),
            "schedule 'auto' needs the placement of as many stages on each "
            "rank; 3 stages are not those of 2 ranks with 2 chunks");
}

TEST(Search, ChoosesARegisteredSchedule) {
  ScheduleRequest request(/*ranks=*/4, /*microbatches=*/8, /*chunks=*/0);
  Schedule found = cantFail(chooseRegistered(request));
  EXPECT_EQ(found.getName(), found.getChosen());
  double makespan = judge(found, request).makespan;
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries()) {
    Expected<Schedule> other = buildSchedule(info.name, request);
    if (!other)
      consumeError(other.takeError());
    else if (!info.isSearch && other->getDirections() == 1)
      EXPECT_LE(makespan, judge(*other, request).makespan * (1 + 1e-9))
          << info.name.str();
  }
}

/// Rules know the shape alone; where stages differ, other warm-ups and other
/// places for W are better.
TEST(Search, BeatsEveryRuleWithUnequalStages) {
  const std::pair<int64_t, std::vector<StageCost>> cases[] = {
      {8, {{2, 1, 4}, {1, 2, 3}, {2, 2, 4}, {4, 4, 1}}},
      {6, {{3, 2, 4}, {4, 1, 1}, {3, 3, 3}, {4, 4, 1}}},
      {12, {{3, 4, 1}, {1, 4, 4}, {4, 4, 3}, {1, 2, 1}}},
      {12, {{2, 1, 1}, {1, 2, 4}, {2, 2, 1}}}};
  for (const auto &[microbatches, stages] : cases) {
    ScheduleRequest request(stages.size(), microbatches, /*chunks=*/1);
    request.costs.stages = stages;
    Judged found = searchAndCheck(request);
    for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries()) {
      if (info.isSearch)
        continue;
      Expected<Schedule> other = buildSchedule(info.name, request);
      if (!other || other->getDirections() > 1) {
        consumeError(other.takeError());
        continue;
      }
      EXPECT_LT(found.makespan, judge(*other, request).makespan - 1e-9)
          << info.name.str();
    }
  }
}

TEST(Search, ReachesTheZeroBubbleTable) {
  for (const ZeroBubbleRow &row : zeroBubbleTable) {
    // The others take long; the benchmark SearchQuality has them all.
    if (row.ranks * row.microbatches > 1024)
      continue;
    ScheduleRequest request = row.getRequest();
    Judged found = searchAndCheck(request);
    double busy = row.microbatches * (row.cost.f + row.cost.b + row.cost.w);
    EXPECT_LE(1 - busy / found.span, row.zb2p + rounding)
        << row.ranks << " ranks, " << row.microbatches << " micro-batches, F "
        << row.cost.f;
  }
}

/// With F = B = W, V-Half and V-Min have the bubbles of the design in about a
/// half and a third of the memory of 1f1b.
TEST(Search, ReachesTheVSchedulesInLessMemory) {
  for (int64_t ranks : {3, 5, 7}) {
    ScheduleRequest request(ranks, 2 * ranks, /*chunks=*/2);
    request.costs.share = {2, 2, 2};
    request.objective = Objective::Span;
    double busy = 6 * request.shape.microbatches * 2;
    request.memoryLimit = (ranks + 2) / 2;
    EXPECT_LE(searchAndCheck(request).span, busy + 3 * ranks - 4 + 1e-9);
    if (ranks % 3 == 0)
      continue;
    request.memoryLimit = (ranks + 4) / 3;
    EXPECT_LE(searchAndCheck(request).span, busy + 4 * ranks - 5 + 1e-9);
  }
}

/// The rules of V-Half and V-Min are for F = B = W without latency. For other
/// costs, a third of the memory of 1f1b is enough for less.
TEST(Search, BeatsEveryRuleInAThirdOfTheMemory) {
  ScheduleRequest request(/*ranks=*/6, /*microbatches=*/12, /*chunks=*/2);
  request.costs.share = {1, 1.1, 0.8};
  request.costs.latency = 0.1;
  request.memoryLimit = 3;
  Judged found = searchAndCheck(request);
  int64_t fitting = 0;
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries()) {
    if (info.isSearch)
      continue;
    Expected<Schedule> other = buildSchedule(info.name, request);
    if (!other) {
      consumeError(other.takeError());
      continue;
    }
    Judged its = judge(*other, request);
    if (its.memory > *request.memoryLimit)
      continue;
    ++fitting;
    EXPECT_LT(found.makespan, 0.98 * its.makespan) << info.name.str();
  }
  EXPECT_GT(fitting, 0);
}

TEST(Search, ReachesTheLowerBoundOfTheMakespanInLittleMemory) {
  ScheduleRequest request(/*ranks=*/6, /*microbatches=*/18, /*chunks=*/1);
  // The last rank starts after 5 forwards and then works 18 * 3.
  EXPECT_NEAR(searchAndCheck(request).makespan, 59, 1e-9);
  request.shape.chunks = 2;
  // On a V every rank starts a chunk earlier.
  Judged found = searchAndCheck(request);
  EXPECT_NEAR(found.makespan, 56.5, 1e-9);
  EXPECT_LE(found.memory, 6);
}

TEST(Search, GivesTheSameScheduleAgain) {
  ScheduleRequest request(/*ranks=*/4, /*microbatches=*/9, /*chunks=*/0);
  request.costs.share = {1, 1.3, 0.6};
  request.costs.latency = 0.1;
  Schedule first = cantFail(buildSchedule("auto", request));
  Schedule second = cantFail(buildSchedule("auto", request));
  ScheduleRequest sized = request;
  sized.shape.chunks = first.getShape().chunks;
  Schedule third = cantFail(buildSchedule("auto", sized));
  for (int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(first.getActions(rank), second.getActions(rank));
    EXPECT_EQ(first.getActions(rank), third.getActions(rank));
  }
}

TEST(Search, RefusesWhatNothingFits) {
  ScheduleRequest request(/*ranks=*/4, /*microbatches=*/8, /*chunks=*/0);
  request.memoryLimit = 0.75;
  Expected<Schedule> found = buildSchedule("auto", request);
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(
      toString(found.takeError()),
      "schedule 'auto' needs a memory limit of at least 1, not 0.75: every "
      "schedule holds the activations of a micro-batch on each rank");
  request.memoryLimit = 1;
  EXPECT_EQ(searchAndCheck(request).memory, 1);
}

TEST(Search, TakesARegisteredScheduleOfALargeProblem) {
  ScheduleRequest request(/*ranks=*/2, /*microbatches=*/170'000, /*chunks=*/1);
  request.memoryLimit = 4;
  Schedule found = cantFail(buildSchedule("auto", request));
  EXPECT_NE(found.getChosen(), "search");
  request.memoryLimit = 1;
  Expected<Schedule> none = buildSchedule("auto", request);
  ASSERT_FALSE(bool(none));
  EXPECT_EQ(toString(none.takeError()),
            "schedule 'auto' finds no schedule of 170000 micro-batches that "
            "holds at most 1.00 activations; only up to 1000000 operations "
            "does it make one of its own");
}

TEST(Search, RefusesStageCostsThatTheRanksCannotShare) {
  ScheduleRequest request(/*ranks=*/4, /*microbatches=*/8, /*chunks=*/0);
  request.costs.stages.assign(6, {1, 1, 1});
  Expected<Schedule> found = buildSchedule("auto", request);
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(toString(found.takeError()),
            "schedule 'auto' needs the costs of as many stages on each rank; 6 "
            "stages are not those of 4 ranks");
}
