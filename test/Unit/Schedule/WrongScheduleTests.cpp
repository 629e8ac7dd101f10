//===- WrongScheduleTests.cpp - One mistake in any schedule is found
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipewright;

namespace {
/// Makes one mistake after the other in each schedule of the registry, with all
/// its placements, directions and overlapped pairs.
class WrongSchedule : public testing::TestWithParam<ScheduleInfo> {
protected:
  using Actions = std::vector<Action>;

  void SetUp() override {
    Expected<Schedule> built = buildSchedule(GetParam().name, {4, 8, 0});
    ASSERT_TRUE(bool(built)) << toString(built.takeError());
    schedule = addCommunication(*built, makeUniformCosts(*built, {1, 1, 1}));
  }

  /// Calls \p change with the actions of a rank and the place of one of them,
  /// for all actions for which \p isWanted holds; afterwards the checker must
  /// name one of \p rules first.
  void expectFound(function_ref<bool(const Action &)> isWanted,
                   function_ref<void(Actions &, size_t)> change,
                   ArrayRef<Rule> rules) {
    int tried = 0;
    for (int64_t rank = 0; rank < schedule->getRanks(); ++rank) {
      Actions right = schedule->getActions(rank);
      for (size_t index = 0; index < right.size(); ++index) {
        if (!isWanted(right[index]))
          continue;
        ++tried;
        Actions wrong = right;
        change(wrong, index);
        schedule->setActions(rank, wrong);
        std::vector<Violation> violations = checkSchedule(*schedule);
        ASSERT_FALSE(violations.empty())
            << "rank " << rank << ", action " << index << ": "
            << describe(right[index]);
        EXPECT_TRUE(is_contained(rules, violations[0].rule))
            << toString(violations);
      }
      schedule->setActions(rank, right);
    }
    EXPECT_GT(tried, 0);
  }

  std::optional<Schedule> schedule;
};
} // namespace

static bool isCompute(const Action &action) { return action.isCompute(); }
static bool isSend(const Action &action) { return action.isSend(); }
static bool isRecv(const Action &action) {
  return action.isTransfer() && !action.isSend();
}

TEST_P(WrongSchedule, MissingAction) {
  auto remove = [](std::vector<Action> &actions, size_t index) {
    actions.erase(actions.begin() + index);
  };
  expectFound(isCompute, remove, Rule::S1);
  // Who waits for the message has a receive, but no send.
  expectFound(isSend, remove, Rule::S4);
  expectFound(isRecv, remove, Rule::S3);
}

TEST_P(WrongSchedule, DoubledAction) {
  auto repeat = [](std::vector<Action> &actions, size_t index) {
    Action action = actions[index];
    actions.insert(actions.begin() + index, action);
  };
  expectFound(isCompute, repeat, Rule::S1);
  expectFound(isSend, repeat, Rule::S4);
  expectFound(isRecv, repeat, Rule::S4);
}

TEST_P(WrongSchedule, EarlyAndLateActions) {
  auto moveToFront = [](std::vector<Action> &actions, size_t index) {
    std::rotate(actions.begin(), actions.begin() + index,
                actions.begin() + index + 1);
  };
  auto moveToBack = [](std::vector<Action> &actions, size_t index) {
    std::rotate(actions.begin() + index, actions.begin() + index + 1,
                actions.end());
  };
  expectFound([](const Action &action) { return action.isInputGradient(); },
              moveToFront, Rule::S3);
  expectFound([](const Action &action) { return action.kind == ActionKind::F; },
              moveToBack, Rule::S3);
  expectFound(isSend, moveToFront, Rule::S3);
  expectFound(isRecv, moveToBack, Rule::S3);
}

TEST_P(WrongSchedule, ActionOfAnotherRank) {
  auto moveStage = [&](std::vector<Action> &actions, size_t index) {
    Action &action = actions[index];
    int64_t owner = schedule->getRank(action.stage, action.direction);
    while (schedule->getRank(action.stage, action.direction) == owner)
      action.stage = (action.stage + 1) % schedule->getStages();
  };
  // Another stage's work is done twice, or on a rank that does not hold it.
  auto isSimple = [](const Action &action) {
    return action.isCompute() && action.parts.empty();
  };
  expectFound(isSimple, moveStage, {Rule::S1, Rule::S2});
}

TEST_P(WrongSchedule, UpdateBeforeTheEnd) {
  auto insertStep = [](std::vector<Action> &actions, size_t index) {
    actions.insert(actions.begin() + index, {ActionKind::Step});
  };
  expectFound(isCompute, insertStep, Rule::S7);
}

INSTANTIATE_TEST_SUITE_P(
    Registry, WrongSchedule,
    testing::ValuesIn(ScheduleRegistry::get().getEntries()),
    [](const testing::TestParamInfo<ScheduleInfo> &info) {
      std::string name = info.param.name.str();
      std::replace_if(
          name.begin(), name.end(), [](char c) { return !isAlnum(c); }, '_');
      return name;
    });
