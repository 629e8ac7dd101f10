//===- RegistryTests.cpp - What holds for every schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/Formats.h"
#include "pipewright/Schedule/Recomputation.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include <gtest/gtest.h>

#include <random>

using namespace llvm;
using namespace pipewright;

namespace {
/// A new schedule is tested here without a line of test code: the registry
/// names it, and each shape it accepts must pass.
class EverySchedule : public testing::TestWithParam<ScheduleInfo> {
protected:
  /// Calls \p check with each schedule of the grid that the generator accepts.
  void forEachShape(function_ref<void(const Schedule &)> check) {
    forEachShape(/*maxMicrobatches=*/20, check);
  }

  void forEachShape(int64_t maxMicrobatches,
                    function_ref<void(const Schedule &)> check) {
    int accepted = 0;
    // A search takes its time with each shape.
    bool isSearch = GetParam().isSearch;
    int64_t maxRanks = isSearch ? 3 : 8;
    if (isSearch)
      maxMicrobatches = 4;
    for (int64_t ranks = 1; ranks <= maxRanks; ++ranks)
      for (int64_t microbatches = 1; microbatches <= maxMicrobatches;
           ++microbatches)
        for (int64_t chunks = 1; chunks <= 3; ++chunks) {
          Expected<Schedule> schedule =
              buildSchedule(GetParam().name, {ranks, microbatches, chunks});
          if (!schedule) {
            EXPECT_FALSE(toString(schedule.takeError()).empty());
            continue;
          }
          ++accepted;
          SCOPED_TRACE(std::to_string(ranks) + " ranks, " +
                       std::to_string(microbatches) + " micro-batches, " +
                       std::to_string(chunks) + " chunks");
          check(*schedule);
        }
    EXPECT_GT(accepted, 0);
  }
};
} // namespace

TEST_P(EverySchedule, PassesTheChecker) {
  forEachShape([](const Schedule &schedule) {
    EXPECT_EQ(toString(checkSchedule(schedule)), "");
  });
}

TEST_P(EverySchedule, CannotDeadlockWithItsMessages) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> duration(0, 5);
  forEachShape([&](const Schedule &schedule) {
    // Orders depend on costs: try equal ones and random ones.
    CostModel costs = makeUniformCosts(schedule, {1, 1, 1});
    for (int i = 0; i < 3; ++i) {
      Schedule complete = addCommunication(schedule, costs);
      EXPECT_EQ(toString(checkSchedule(complete)), "");
      for (StageCost &stage : costs.stages)
        stage = {double(duration(random)), double(duration(random)),
                 double(duration(random))};
      costs.latency = duration(random);
    }
  });
}

TEST_P(EverySchedule, SurvivesItsFormats) {
  forEachShape(/*maxMicrobatches=*/8, [](const Schedule &schedule) {
    CostModel costs = makeUniformCosts(schedule, {1, 1, 1});
    Schedule complete = addCommunication(schedule, costs);
    std::string text;
    raw_string_ostream os(text);
    writeJson(complete, simulate(complete, costs), os);
    Expected<Schedule> fromJson = parseScheduleJson(text);
    ASSERT_TRUE(bool(fromJson)) << toString(fromJson.takeError());
    EXPECT_EQ(fromJson->getPlacement(), schedule.getPlacement());
    for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
      EXPECT_EQ(fromJson->getActions(rank), complete.getActions(rank));

    for (const Schedule &written : {schedule, complete}) {
      text.clear();
      if (Error error = writeCsv(written, os)) {
        EXPECT_GT(schedule.getDirections(), 1) << toString(std::move(error));
        return;
      }
      Expected<Schedule> fromCsv = parseScheduleCsv(text);
      ASSERT_TRUE(bool(fromCsv)) << toString(fromCsv.takeError());
      EXPECT_EQ(fromCsv->getPlacement(), schedule.getPlacement());
      for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
        EXPECT_EQ(fromCsv->getActions(rank), written.getActions(rank));
    }
  });
}

TEST_P(EverySchedule, RecomputesBeforeEachBackward) {
  forEachShape([](const Schedule &schedule) {
    Schedule recomputing = addRecomputation(schedule);
    EXPECT_EQ(toString(checkSchedule(recomputing)), "");
    EXPECT_EQ(getPeakActivations(recomputing), getPeakActivations(schedule));
    int64_t forwards = 0, recomputations = 0;
    for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
      for (const Action &action : recomputing.getActions(rank))
        forEachPart(action, [&](const Action &part) {
          forwards += part.kind == ActionKind::F;
          recomputations += part.kind == ActionKind::R;
        });
    EXPECT_EQ(recomputations, forwards);
  });
}

TEST_P(EverySchedule, IsNeverFasterThanItsWork) {
  forEachShape([](const Schedule &schedule) {
    Metrics metrics = measure(
        schedule, simulate(schedule, makeUniformCosts(schedule, {2, 2, 1})));
    // Every rank works 5 units per micro-batch.
    EXPECT_GE(metrics.makespan + 1e-9, 5 * schedule.getShape().microbatches);
    EXPECT_GE(metrics.bubbleRatio, -1e-9);
  });
}

TEST_P(EverySchedule, RefusesEmptyShapes) {
  for (ScheduleShape shape :
       {ScheduleShape{0, 1, 1}, ScheduleShape{1, 0, 1}, ScheduleShape{1, 1, -1},
        ScheduleShape{-1, 4, 1}}) {
    Expected<Schedule> schedule = buildSchedule(GetParam().name, {shape});
    ASSERT_FALSE(bool(schedule));
    std::string message = toString(schedule.takeError());
    EXPECT_NE(message.find("needs at least 1 of"), std::string::npos)
        << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Registry, EverySchedule,
    testing::ValuesIn(ScheduleRegistry::get().getEntries().begin(),
                      ScheduleRegistry::get().getEntries().end()),
    [](const testing::TestParamInfo<ScheduleInfo> &info) {
      std::string name = info.param.name.str();
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(ForwardOnly, PassesTheCheckerAndHoldsOneActivation) {
  Schedule schedule = buildForwardOnly({3, 4, 1}, {{0, 1, 2}});
  EXPECT_EQ(toString(checkSchedule(schedule)), "");
  EXPECT_EQ(getPeakActivations(schedule), std::vector<double>({1, 1, 1}));
}

TEST(ForwardOnly, FollowsAPlacementThatTurnsBack) {
  Schedule schedule = buildForwardOnly({2, 3, 2}, {{0, 1, 1, 0}});
  EXPECT_EQ(toString(checkSchedule(schedule)), "");
  Schedule complete =
      addCommunication(schedule, makeUniformCosts(schedule, {1, 1, 1}));
  EXPECT_EQ(toString(checkSchedule(complete)), "");
}
