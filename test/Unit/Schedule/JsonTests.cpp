//===- JsonTests.cpp - What is not a schedule is refused with its place
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Formats.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipewright;

/// The error of a file with these parts; empty if it is read.
static std::string parseError(StringRef actions, StringRef placement = "[[0]]",
                              StringRef microbatches = "1") {
  std::string text = ("{\"schedule\": \"mine\", \"ranks\": 1, "
                      "\"microbatches\": " +
                      microbatches + ", \"placement\": " + placement +
                      ", \"actions\": " + actions + "}")
                         .str();
  Expected<Schedule> schedule = parseScheduleJson(text);
  return schedule ? "" : toString(schedule.takeError());
}

TEST(Json, ReadsAPairWhoseBackwardIsFullByDefault) {
  Expected<Schedule> schedule = parseScheduleJson(
      R"({"schedule": "mine", "ranks": 1, "microbatches": 2,
          "placement": [[0]], "actions": [[
            {"op": "FB", "f": {"stage": 0, "mb": 1}, "b": {"stage": 0, "mb": 0}}
          ]]})");
  ASSERT_TRUE(bool(schedule)) << toString(schedule.takeError());
  const Action &pair = schedule->getActions(0).front();
  EXPECT_EQ(pair.parts[0], (Action{ActionKind::F, 0, 1}));
  EXPECT_EQ(pair.parts[1], (Action{ActionKind::BW, 0, 0}));
}

TEST(Json, RefusesWhatIsNotAnAction) {
  EXPECT_EQ(parseError(R"([[{"op": "F", "stage": 0, "mb": 0}]])"), "");
  EXPECT_EQ(parseError(R"([[{"op": "G", "stage": 0, "mb": 0}]])"),
            "expected the name of an action at schedule.actions[0][0].op");
  EXPECT_EQ(parseError(R"([[{"op": "F", "stage": 0}]])"),
            "missing value at schedule.actions[0][0].mb");
  EXPECT_EQ(parseError(R"([[7]])"),
            "expected object at schedule.actions[0][0]");
  EXPECT_EQ(parseError(R"([[{"op": "GROUP", "ops": [{"op": "F", "stage": 0,
                             "mb": 0}]}]])"),
            "expected a transfer at schedule.actions[0][0].ops[0]");
  EXPECT_EQ(parseError(R"([[{"op": "FB", "f": {"stage": 0, "mb": 0}}]])"),
            "expected object at schedule.actions[0][0].b");
}

TEST(Json, RefusesWhatIsNotASchedule) {
  EXPECT_EQ(parseError("[]"), "expected one list per rank at schedule.actions");
  EXPECT_EQ(parseError("[[]]", "[[1]]"),
            "expected one known rank per stage at schedule.placement");
  EXPECT_EQ(parseError("[[]]", "[]"),
            "expected a list of ranks at schedule.placement");
  EXPECT_EQ(
      parseError("[[]]", "[[0]]", "0"),
      "expected at least 1 of ranks, microbatches and chunks when parsing "
      "schedule");
  EXPECT_EQ(parseError("[[]]", "[[0]]", "100000000000"),
            "expected a schedule of a size that fits into memory when parsing "
            "schedule");
}

TEST(Json, RefusesNumbersThatNoScheduleHas) {
  EXPECT_EQ(parseError(R"([[{"op": "F", "stage": 16777216, "mb": 0}]])"),
            "expected numbers of a schedule of a size that fits into memory "
            "at schedule.actions[0][0]");
  EXPECT_EQ(parseError(R"([[{"op": "F", "stage": 0, "mb": -33554433}]])"),
            "expected numbers of a schedule of a size that fits into memory "
            "at schedule.actions[0][0]");
  std::string placement = "[[0]";
  for (int64_t direction = 1; direction <= maxDirections; ++direction)
    placement += ", [0]";
  EXPECT_EQ(parseError("[[]]", placement + "]"),
            "expected at most 32 directions at schedule.placement");
}
