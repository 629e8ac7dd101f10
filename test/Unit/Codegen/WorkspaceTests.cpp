//===- WorkspaceTests.cpp - Where short-lived buffers lie
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Workspace.h"

#include <gtest/gtest.h>

#include <random>

using namespace pipewright;

TEST(Workspace, BuffersOfDifferentTimesShareMemory) {
  WorkspacePlan plan = planWorkspace({{100, 0, 1}, {128, 2, 3}, {1, 4, 4}});
  EXPECT_EQ(plan.bytes, 128);
  EXPECT_EQ(plan.offsets, (llvm::SmallVector<int64_t>{0, 0, 0}));
}

TEST(Workspace, BuffersOfOneStepDoNot) {
  // The first is still read by the step that makes the second.
  WorkspacePlan plan = planWorkspace({{100, 0, 1}, {64, 1, 2}});
  EXPECT_EQ(plan.offsets, (llvm::SmallVector<int64_t>{0, 128}));
  EXPECT_EQ(plan.bytes, 192);
}

TEST(Workspace, SmallBuffersFillGaps) {
  // The second leaves a gap while the first is not there.
  WorkspacePlan plan = planWorkspace({{256, 0, 1}, {192, 1, 3}, {128, 2, 3}});
  EXPECT_EQ(plan.offsets[2], 0);
  EXPECT_EQ(plan.bytes, 448);
}

TEST(Workspace, NothingNeedsNothing) { EXPECT_EQ(planWorkspace({}).bytes, 0); }

TEST(Workspace, RandomLifetimesNeverCollide) {
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    llvm::SmallVector<BufferLifetime> lifetimes;
    for (int i = 0; i < 30; ++i) {
      int64_t first = random() % 20;
      lifetimes.push_back({static_cast<int64_t>(random() % 1000 + 1), first,
                           first + static_cast<int64_t>(random() % 6)});
    }
    WorkspacePlan plan = planWorkspace(lifetimes);
    for (size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % workspaceAlignment, 0);
      EXPECT_LE(plan.offsets[a] + lifetimes[a].bytes, plan.bytes);
      for (size_t b = 0; b < a; ++b) {
        bool sameTime = lifetimes[a].first <= lifetimes[b].last &&
                        lifetimes[b].first <= lifetimes[a].last;
        bool sameMemory =
            plan.offsets[a] < plan.offsets[b] + lifetimes[b].bytes &&
            plan.offsets[b] < plan.offsets[a] + lifetimes[a].bytes;
        EXPECT_FALSE(sameTime && sameMemory) << a << " and " << b;
      }
    }
  }
}
