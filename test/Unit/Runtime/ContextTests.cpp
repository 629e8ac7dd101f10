//===- ContextTests.cpp - What tasks are called with ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LateTransport.h"
#include "core/Context.h"

#include <cstring>
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
    uint64_t offsets[] = {0, 64};
    PprtBuffer buffer = {PPRT_BUFFER_RANDOM_KEY, 2,    offsets, 16, slotOf,
                         /*evalSlot=*/1,         layer};
    PprtBinding binding = {PPRT_BIND_BUFFER, 0, 0};
    PprtTask task = {"s0.f", PPRT_ROLE_F, 0, seeKey, 1, &binding};
    PprtDescriptor descriptor = {};
    descriptor.ranks = 1;
    descriptor.dataParallel = 1;
    descriptor.expertParallel = 1;
    descriptor.arenaBytes = 128;
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
    EXPECT_FALSE(context.device->start().failed());
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

//===----------------------------------------------------------------------===//
// Memory that is being sent
//===----------------------------------------------------------------------===//

namespace {
/// Two channels and a saved value; the second channel and the value lie where
/// the first channel lies, as a plan may have it after the first was sent.
class SharedMemory : public testing::Test {
protected:
  SharedMemory() {
    PprtTensor tensor = {"t", PPRT_F32, 0, nullptr, 64};
    channels[0] = {"out", PPRT_ACTIVATION, 0, 0, 1, 0, 1, tensor, 0};
    channels[1] = {"in", PPRT_GRADIENT, 1, 1, 0, 1, 0, tensor, 1};
    descriptor.ranks = 2;
    descriptor.dataParallel = 1;
    descriptor.expertParallel = 1;
    descriptor.arenaBytes = 256;
    descriptor.microbatches = 1;
    descriptor.bufferCount = 3;
    descriptor.buffers = buffers;
    descriptor.taskCount = 1;
    descriptor.tasks = &task;
    descriptor.channelCount = 2;
    descriptor.channels = channels;
    context =
        std::make_unique<PprtContext>(descriptor, options, transport, progress);
    EXPECT_FALSE(context->device->start().failed());
    context->beginStep(1);
    memset(context->device->at(0), 0x11, 64);
    pprtSend(context.get(), 0, 0);
    EXPECT_TRUE(transport.taken.empty());
  }

  /// What the task of the test leaves in its memory.
  static void overwrite(void *const *pointers) {
    memset(pointers[0], 0x77, 64);
  }

  uint16_t slotOf[1] = {0};
  uint64_t offsets[3] = {0, 32, 128};
  PprtBuffer buffers[3] = {
      {PPRT_BUFFER_CHANNEL, 1, offsets, 64, slotOf, 0, 0},
      {PPRT_BUFFER_CHANNEL, 1, offsets + 1, 64, slotOf, 0, 1},
      {PPRT_BUFFER_SAVED, 1, offsets + 1, 64, slotOf, 0, 0}};
  PprtBinding binding = {PPRT_BIND_BUFFER, 2, 0};
  PprtTask task = {"s0.f", PPRT_ROLE_F, 0, overwrite, 1, &binding};
  PprtChannel channels[2];
  PprtDescriptor descriptor = {};
  RankOptions options;
  LateTransport transport;
  Progress progress;
  std::unique_ptr<PprtContext> context;
};
} // namespace

TEST_F(SharedMemory, ATaskWaitsForTheSendThatReadsItsMemory) {
  pprtRun(context.get(), 0, 0);
  EXPECT_EQ(transport.taken, std::vector<uint8_t>(64, 0x11));
}

TEST_F(SharedMemory, AReceiveWaitsForTheSendThatReadsItsMemory) {
  pprtRecv(context.get(), 1, 0);
  context->finishMessages();
  ASSERT_EQ(transport.taken.size(), 128u);
  EXPECT_EQ(std::vector<uint8_t>(transport.taken.begin(),
                                 transport.taken.begin() + 64),
            std::vector<uint8_t>(64, 0x11));
}

TEST_F(SharedMemory, OtherMemoryDoesNotWait) {
  offsets[1] = 64;
  pprtRun(context.get(), 0, 0);
  EXPECT_TRUE(transport.taken.empty());
  context->finishMessages();
  EXPECT_EQ(transport.taken, std::vector<uint8_t>(64, 0x11));
}
