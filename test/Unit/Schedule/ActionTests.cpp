//===- ActionTests.cpp - Actions are small, and values
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Schedule.h"

#include <gtest/gtest.h>

using namespace pipewright;

TEST(Action, HoldsTheNumbersOfEveryTractableSchedule) {
  ASSERT_TRUE(isTractable(maxWork, 1));
  Action last(ActionKind::W, maxWork - 1, maxWork - 1, maxDirections - 1);
  EXPECT_EQ(last.kind, ActionKind::W);
  EXPECT_EQ(last.stage, maxWork - 1);
  EXPECT_EQ(last.microbatch, maxWork - 1);
  EXPECT_EQ(last.direction, maxDirections - 1);
  EXPECT_FALSE(Action::fits(maxWork, 0, 0));
  EXPECT_FALSE(Action::fits(0, maxWork, 0));
  EXPECT_FALSE(Action::fits(0, 0, maxDirections));
}

TEST(Action, CopiesItsParts) {
  Action pair(ActionKind::FB, 0, 0, 0,
              {{ActionKind::F, 0, 1}, {ActionKind::BW, 0, 0}});
  Action copy = pair;
  EXPECT_EQ(copy, pair);
  copy.parts[1].kind = ActionKind::B;
  EXPECT_EQ(pair.parts[1].kind, ActionKind::BW);
  EXPECT_FALSE(copy == pair);

  Action moved = std::move(copy);
  EXPECT_EQ(moved.parts.size(), 2u);
  moved = pair;
  EXPECT_EQ(moved, pair);
  moved.parts.resize(0);
  EXPECT_TRUE(moved.parts.empty());
  EXPECT_FALSE(moved == pair);
  moved.parts.push_back(pair);
  EXPECT_EQ(moved.parts.back().parts[0], (Action{ActionKind::F, 0, 1}));
}
