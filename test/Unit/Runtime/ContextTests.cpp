//===- ContextTests.cpp - What tasks are called with ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Context.h"

#include <gtest/gtest.h>
#include <utility>

using namespace pprt;

using Key = std::pair<int64_t, int64_t>;

static Key seenKey;

// (random key)
static void seeKey(void *const *pointers) {
  const auto *key = static_cast<const int64_t *>(pointers[0]);
  seenKey = {key[0], key[1]};
}

namespace {
/// A rank with one task that takes the key of a layer.
class ContextTest : public testing::Test {
protected:
  /// The key that a new run is given.
  Key getKey(uint64_t seed, int64_t step, uint32_t microbatch, int64_t layer,
             bool eval = false) {
    uint16_t slotOf[] = {0, 1, 0, 1};
    PprtBuffer buffer = {PPRT_BUFFER_RANDOM_KEY, 2, 0, 64, 16, slotOf, layer};
    PprtBinding binding = {PPRT_BIND_BUFFER, 0, 0};
    PprtTask task = {"s0.f", PPRT_ROLE_F, 0, seeKey, 1, &binding};
    PprtDescriptor descriptor = {};
    descriptor.ranks = 1;
    descriptor.microbatches = 4;
    descriptor.bufferCount = 1;
    descriptor.buffers = &buffer;
    descriptor.taskCount = 1;
    descriptor.tasks = &task;
    RankOptions options;
    options.data.seed = seed;
    options.eval = eval;
    std::unique_ptr<Transport> transport = createSelfTransport();
    Progress progress;
    PprtContext context(descriptor, options, *transport, progress);
    EXPECT_FALSE(context.arena.allocate(128).failed());
    context.beginStep(step);
    // Others used the slot before.
    for (uint32_t i = 0; i <= microbatch; ++i)
      pprtRun(&context, 0, i);
    return seenKey;
  }
};
} // namespace

TEST_F(ContextTest, KeysAreAFunctionOfSeedStepMicrobatchAndLayer) {
  Key key = getKey(7, 3, 2, 5);
  EXPECT_EQ(getKey(7, 3, 2, 5), key);
  EXPECT_NE(getKey(8, 3, 2, 5), key);
  EXPECT_NE(getKey(7, 4, 2, 5), key);
  EXPECT_NE(getKey(7, 3, 1, 5), key);
  EXPECT_NE(getKey(7, 3, 0, 5), key);
  EXPECT_NE(getKey(7, 3, 2, 6), key);
  // Evaluation has one slot for all micro-batches.
  EXPECT_EQ(getKey(7, 3, 2, 5, /*eval=*/true), key);
}
