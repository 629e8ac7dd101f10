//===- ParallelTests.cpp - Threads change nothing
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include "llvm/Support/Parallel.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipewright;

namespace {
/// Runs schedules that are large enough for several threads.
class Parallel : public testing::TestWithParam<const char *> {
protected:
  ~Parallel() override { parallel::strategy = before; }

  static void useThreads(unsigned threads) {
    parallel::strategy = hardware_concurrency(threads);
  }

  static Schedule build() {
    Expected<Schedule> built = buildSchedule(GetParam(), {256, 1024, 0});
    EXPECT_TRUE(bool(built)) << toString(built.takeError());
    return addCommunication(*built, makeUniformCosts(*built, {1, 1, 1}));
  }

private:
  ThreadPoolStrategy before = parallel::strategy;
};
} // namespace

TEST_P(Parallel, messages_stand_where_one_thread_puts_them) {
  useThreads(1);
  Schedule alone = build();
  useThreads(4);
  Schedule together = build();
  for (int64_t rank = 0; rank < alone.getRanks(); ++rank)
    EXPECT_TRUE(alone.getActions(rank) == together.getActions(rank))
        << "rank " << rank;
  EXPECT_EQ(toString(checkSchedule(together)), "");
}

TEST_P(Parallel, mistakes_are_listed_as_one_thread_lists_them) {
  for (bool repeats : {false, true}) {
    Schedule schedule = build();
    // Some ranks run actions too early and too late, or one of them twice.
    for (int64_t rank = 0; rank < schedule.getRanks(); rank += 50) {
      std::vector<Action> actions = schedule.getActions(rank);
      if (repeats)
        actions.push_back(actions.front());
      std::reverse(actions.begin(), actions.begin() + 40);
      schedule.setActions(rank, actions);
    }
    useThreads(1);
    std::string alone = toString(checkSchedule(schedule));
    useThreads(4);
    EXPECT_NE(alone, "");
    EXPECT_EQ(toString(checkSchedule(schedule)), alone);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, Parallel,
                         testing::Values("1f1b", "zb-v", "dualpipe"));
