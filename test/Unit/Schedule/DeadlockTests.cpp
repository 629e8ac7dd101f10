//===- DeadlockTests.cpp - What each transport makes of each schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The obvious place of a message, a receive right before its consumer and a
// send right after its producer, deadlocks most schedules on most transports;
// the global order deadlocks none.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipewright;

namespace {
struct Row {
  /// A schedule of the registry; it takes its usual number of chunks.
  const char *name;
  /// Per transport of getTransports(), whether the schedule runs ('.') or
  /// deadlocks ('D') with 4 ranks and 16 micro-batches, and with 2 and 4.
  const char *large;
  const char *small;
};
} // namespace

static std::string judge(const char *name, int64_t ranks,
                         int64_t microbatches) {
  Expected<Schedule> built =
      buildSchedule(name, {ScheduleShape{ranks, microbatches, 0}});
  if (!built)
    return toString(built.takeError());
  CostModel costs = makeUniformCosts(*built, {1, 1, 1});
  Schedule schedule = addCommunication(*built, costs, MessageOrder::Naive);
  std::string verdicts;
  for (Transport transport : getTransports()) {
    Network network = buildNetwork(schedule, transport);
    verdicts += findDeadlock(network, /*credits=*/0).empty() ? '.' : 'D';
  }
  return verdicts;
}

/// Placing messages again drops those that are there, and keeps the update.
TEST(AddCommunication, ReplacesTransfers) {
  Expected<Schedule> built = buildSchedule("1f1b", {ScheduleShape{3, 4, 1}});
  ASSERT_TRUE(bool(built));
  for (int64_t rank = 0; rank < 3; ++rank)
    built->add(rank, {ActionKind::Step});
  CostModel costs = makeUniformCosts(*built, {1, 1, 1});
  Schedule naive = addCommunication(*built, costs, MessageOrder::Naive);
  Schedule global = addCommunication(naive, costs);
  Schedule expected = addCommunication(*built, costs);
  for (int64_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(global.getActions(rank), expected.getActions(rank));
    EXPECT_EQ(global.getActions(rank).back().kind, ActionKind::Step);
  }
}

class NaiveOrder : public testing::TestWithParam<Row> {};

TEST_P(NaiveOrder, DeadlocksAsKnown) {
  EXPECT_EQ(judge(GetParam().name, 4, 16), GetParam().large);
  EXPECT_EQ(judge(GetParam().name, 2, 4), GetParam().small);
}

// The columns: blocking, grouped, stream, stream-per-peer, stream-per-kind,
// stream-per-peer-kind, stream-per-channel.
static const Row rows[] = {{"gpipe", ".......", "......."},
                           {"1f1b", "D.DD...", "D.DD..."},
                           {"eager-1f1b", "D.DD...", "D.DD..."},
                           {"zb-h1", "D.DD...", "D.DD..."}};

INSTANTIATE_TEST_SUITE_P(Table, NaiveOrder, testing::ValuesIn(rows),
                         [](const testing::TestParamInfo<Row> &info) {
                           std::string name = info.param.name;
                           for (char &c : name)
                             if (!isalnum(c))
                               c = '_';
                           return name;
                         });
