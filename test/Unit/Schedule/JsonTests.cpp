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

TEST(Json, RefusesMisspelledKeys) {
  EXPECT_EQ(parseError(R"([[{"op": "F", "stage": 0, "mb": 0, "d": 0}]])"),
            "unknown key at schedule.actions[0][0].d");
  EXPECT_EQ(parseError(R"([[{"op": "GROUP", "ops": [], "stage": 0}]])"),
            "unknown key at schedule.actions[0][0].stage");
  EXPECT_EQ(parseError(R"([[{"op": "FB", "f": {}, "b": {}, "w": {}}]])"),
            "unknown key at schedule.actions[0][0].w");
}

TEST(Json, RefusesNumbersThatContradictEachOther) {
  EXPECT_EQ(parseError("[[]]", "[[0], [0]]", "3"),
            "expected as many micro-batches in each direction at "
            "schedule.microbatches");
  EXPECT_EQ(parseError("[[]]", "[[0]], \"stages\": 2"),
            "expected the number of stages in placement at schedule.stages");
}

TEST(Json, CountsChunksThatAreNotGiven) {
  Expected<Schedule> schedule = parseScheduleJson(
      R"({"schedule": "mine", "ranks": 2, "microbatches": 1,
          "placement": [[0, 1, 0]], "actions": [[], []]})");
  ASSERT_TRUE(bool(schedule)) << toString(schedule.takeError());
  EXPECT_EQ(schedule->getShape().chunks, 2);
}

// Readers that call themselves would run out of stack.
TEST(Json, RefusesDeepNesting) {
  std::string message = "lists and objects are nested more than 100 deep";
  EXPECT_EQ(parseError(std::string(1000000, '[')), message);
  std::string groups;
  for (int i = 0; i < 100000; ++i)
    groups += R"([{"op": "GROUP", "ops": )";
  EXPECT_EQ(parseError(groups), message);
  // Brackets in a string are none.
  EXPECT_EQ(parseError(R"([[{"op": "F", "stage": 0, "mb": 0}]], "note": ")" +
                       std::string(1000, '[') + R"(\"[[")"),
            "");
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
