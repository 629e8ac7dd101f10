//===- ArenaTests.cpp - Slots and offsets
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Program/Arena.h"

#include <gtest/gtest.h>

using namespace pipewright;

TEST(AssignSlots, SharesASlotAfterItsLastUse) {
  // Micro-batch 2 starts after 0 has ended.
  SlotAssignment result = assignSlots({{0, 3}, {1, 5}, {4, 6}});
  EXPECT_EQ(result.slots, 2);
  EXPECT_EQ(result.slotOf, (llvm::SmallVector<int64_t>{0, 1, 0}));
}

TEST(AssignSlots, ABufferIsBusyAtItsLastUse) {
  EXPECT_EQ(assignSlots({{0, 3}, {3, 5}}).slots, 2);
}

TEST(AssignSlots, UnusedMicrobatchesTakeNoSlot) {
  SlotAssignment result = assignSlots({Lifetime(), {0, 1}, Lifetime()});
  EXPECT_EQ(result.slots, 1);
  EXPECT_EQ(result.slotOf[1], 0);
  EXPECT_EQ(assignSlots({}).slots, 0);
}

TEST(AssignSlots, NeedsNoMoreSlotsThanLifetimesMeet) {
  // In any order of the micro-batches, as many slots as overlap anywhere.
  llvm::SmallVector<Lifetime> lifetimes;
  for (int64_t i = 0; i < 50; ++i)
    lifetimes.push_back({(i * 37) % 50, (i * 37) % 50 + i % 7});
  int64_t mostAtOnce = 0;
  for (int64_t time = 0; time < 60; ++time) {
    int64_t meeting = 0;
    for (const Lifetime &lifetime : lifetimes)
      meeting += lifetime.first <= time && time <= lifetime.last;
    mostAtOnce = std::max(mostAtOnce, meeting);
  }
  SlotAssignment result = assignSlots(lifetimes);
  EXPECT_EQ(result.slots, mostAtOnce);
  for (size_t a = 0; a < lifetimes.size(); ++a)
    for (size_t b = 0; b < a; ++b)
      if (result.slotOf[a] == result.slotOf[b])
        EXPECT_TRUE(lifetimes[a].last < lifetimes[b].first ||
                    lifetimes[b].last < lifetimes[a].first);
}

TEST(ArenaLayout, RoundsUpToCacheLines) {
  ArenaLayout layout;
  EXPECT_EQ(layout.place(1), 0);
  EXPECT_EQ(layout.place(65, /*count=*/2), 64);
  EXPECT_EQ(layout.place(64), 64 + 2 * 128);
  EXPECT_EQ(layout.getBytes(), 64 + 2 * 128 + 64);
}
