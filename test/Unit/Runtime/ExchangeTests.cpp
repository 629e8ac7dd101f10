//===- ExchangeTests.cpp - Rows between replicas --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LateTransport.h"
#include "Ranks.h"
#include "core/Context.h"
#include "launch/Collectives.h"

#include <gtest/gtest.h>

using namespace pprt;

/// What the tasks of this thread's rank write and have read.
static thread_local std::vector<int32_t> written, seen;

// (sent)
static void writeRows(void *const *pointers) {
  memcpy(pointers[0], written.data(), written.size() * sizeof(int32_t));
}
// (buffer)
static void seeRows(void *const *pointers) {
  auto *rows = static_cast<const int32_t *>(pointers[0]);
  seen.assign(rows, rows + written.size());
}

namespace {
enum Task : uint32_t { Write, SeeReceived, SeeSent };

/// A replica with one exchange of blocks of so many numbers.
struct Replica {
  Replica(uint32_t replicas, uint32_t groupSize, uint32_t blockNumbers,
          uint32_t sentSlots) {
    uint64_t bytes = groupSize * blockNumbers * sizeof(int32_t);
    for (uint32_t slot = 0; slot < 4; ++slot)
      offsets[slot] = slot * ((bytes + 63) / 64 * 64);
    slotOf[1] = sentSlots - 1;
    buffers[0] = {PPRT_BUFFER_SENT, sentSlots, offsets, bytes, slotOf, 0, 0};
    buffers[1] = {PPRT_BUFFER_RECEIVED, 2, offsets + 2, bytes, receivedSlotOf,
                  /*evalSlot=*/0,       0};
    exchange.blockBytes = bytes / groupSize;
    descriptor.ranks = 1;
    descriptor.dataParallel = replicas;
    descriptor.expertParallel = groupSize;
    descriptor.microbatches = 2;
    descriptor.arenaBytes = 4096;
    descriptor.bufferCount = 2;
    descriptor.buffers = buffers;
    descriptor.exchangeCount = 1;
    descriptor.exchanges = &exchange;
    descriptor.taskCount = 3;
    descriptor.tasks = tasks;
  }

  uint64_t offsets[4];
  uint16_t slotOf[2] = {0, 0}, receivedSlotOf[2] = {0, 1};
  PprtBuffer buffers[2];
  PprtExchange exchange = {"x.0.0",          /*id=*/5,   /*stage=*/0,
                           /*blockBytes=*/0, /*sent=*/0, /*received=*/1};
  PprtBinding bindings[2] = {{PPRT_BIND_BUFFER, 0, 0},
                             {PPRT_BIND_BUFFER, 1, 0}};
  PprtTask tasks[3] = {{"write", PPRT_ROLE_F, 0, writeRows, 1, bindings},
                       {"see", PPRT_ROLE_F, 0, seeRows, 1, bindings + 1},
                       {"see-sent", PPRT_ROLE_F, 0, seeRows, 1, bindings}};
  PprtDescriptor descriptor = {};
};
} // namespace

/// A number that says where it is from and where it goes.
static int32_t makeNumber(uint32_t source, uint32_t target, uint32_t microbatch,
                          uint32_t index) {
  return ((source * 10 + target) * 10 + microbatch) * 10 + index;
}

static std::vector<int32_t> makeSent(uint32_t replica, uint32_t groupSize,
                                     uint32_t microbatch) {
  std::vector<int32_t> numbers;
  for (uint32_t place = 0; place < groupSize; ++place)
    for (uint32_t i = 0; i < 3; ++i)
      numbers.push_back(makeNumber(
          replica, replica / groupSize * groupSize + place, microbatch, i));
  return numbers;
}

static std::vector<int32_t> makeReceived(uint32_t replica, uint32_t groupSize,
                                         uint32_t microbatch) {
  std::vector<int32_t> numbers;
  for (uint32_t place = 0; place < groupSize; ++place)
    for (uint32_t i = 0; i < 3; ++i)
      numbers.push_back(makeNumber(replica / groupSize * groupSize + place,
                                   replica, microbatch, i));
  return numbers;
}

/// All replicas exchange two micro-batches, of which they look at the results
/// only when both are under way.
static void checkExchange(uint32_t replicas, uint32_t groupSize,
                          uint32_t sentSlots,
                          std::optional<uint64_t> fuzzSeed = std::nullopt) {
  Replica replica(replicas, groupSize, /*blockNumbers=*/3, sentSlots);
  runRanks(replicas, [&](Transport &all) {
    uint32_t self = all.getRank();
    RankOptions options;
    options.fuzzSeed = fuzzSeed;
    Progress progress;
    PprtContext context(replica.descriptor, options, all, progress);
    EXPECT_FALSE(context.device->start().failed());
    for (int64_t step = 1; step <= 3; ++step) {
      context.beginStep(step);
      for (uint32_t microbatch = 0; microbatch < 2; ++microbatch) {
        written = makeSent(self, groupSize, microbatch);
        pprtRun(&context, Write, microbatch);
        pprtAllToAll(&context, 0, microbatch);
      }
      for (uint32_t microbatch = 0; microbatch < 2; ++microbatch) {
        pprtRun(&context, SeeReceived, microbatch);
        EXPECT_EQ(seen, makeReceived(self, groupSize, microbatch));
      }
      context.finishMessages();
    }
  });
}

TEST(Exchange, EachReplicaGetsItsBlockOfEachOfTheGroup) {
  checkExchange(/*replicas=*/2, /*groupSize=*/2, /*sentSlots=*/2);
  checkExchange(4, 2, 2);
  checkExchange(4, 4, 2);
}

TEST(Exchange, ASlotIsUsedAgainWhenItsBlocksAreGone) {
  for (uint64_t fuzzSeed = 0; fuzzSeed < 4; ++fuzzSeed) {
    checkExchange(2, 2, /*sentSlots=*/1, fuzzSeed);
    checkExchange(4, 4, /*sentSlots=*/1, fuzzSeed);
  }
}

//===----------------------------------------------------------------------===//
// Memory of blocks that are under way
//===----------------------------------------------------------------------===//

namespace {
/// The first of two replicas, which has begun to exchange 64 bytes with each.
class BlocksUnderWay : public testing::Test {
protected:
  BlocksUnderWay() : replica(2, 2, /*blockNumbers=*/16, /*sentSlots=*/1) {
    context = std::make_unique<PprtContext>(replica.descriptor, options,
                                            transport, progress);
    EXPECT_FALSE(context->device->start().failed());
    context->beginStep(1);
    written.assign(32, 0x11111111);
    pprtRun(context.get(), Write, 0);
    pprtAllToAll(context.get(), 0, 0);
    EXPECT_EQ(transport.memory.size(), 2u);
    EXPECT_TRUE(transport.taken.empty());
  }

  Replica replica;
  RankOptions options;
  LateTransport transport;
  Progress progress;
  std::unique_ptr<PprtContext> context;
};
} // namespace

TEST_F(BlocksUnderWay, WhoReadsWhatIsReceivedWaits) {
  pprtRun(context.get(), SeeReceived, 0);
  EXPECT_EQ(transport.taken, std::vector<uint8_t>(64, 0x55));
  // Its own block is not a message.
  std::vector<int32_t> expected(16, 0x11111111);
  expected.resize(32, 0x55555555);
  EXPECT_EQ(seen, expected);
}

TEST_F(BlocksUnderWay, WhoReadsWhatIsSentDoesNotWait) {
  pprtRun(context.get(), SeeSent, 0);
  EXPECT_TRUE(transport.taken.empty());
  EXPECT_EQ(seen, written);
}

TEST_F(BlocksUnderWay, WhoWritesWhereTheyAreSentFromWaits) {
  written.assign(32, 0x77777777);
  pprtRun(context.get(), Write, 1);
  EXPECT_EQ(transport.taken, std::vector<uint8_t>(64, 0x11));
}

TEST_F(BlocksUnderWay, AnExchangeWaitsForBlocksInItsMemory) {
  // The second micro-batch is received where the first is.
  replica.receivedSlotOf[1] = 0;
  pprtAllToAll(context.get(), 0, 1);
  EXPECT_EQ(transport.taken.size(), 128u);
  EXPECT_EQ(transport.memory.size(), 4u);
}

TEST_F(BlocksUnderWay, TheMonitorNamesThem) {
  EXPECT_EQ(progress.describe(replica.descriptor),
            "exchanging rows of 'x.0.0' with other pipelines (stage 0, "
            "micro-batch 0) in step 1");
}

TEST(Exchange, ABlockIsAMessage) {
  Replica replica(2, 2, /*blockNumbers=*/1, /*sentSlots=*/1);
  replica.exchange.blockBytes = Transport::messageLimit + 1;
  RankOptions options;
  LateTransport transport;
  Progress progress;
  PprtContext context(replica.descriptor, options, transport, progress);
  EXPECT_EQ(context.device->start().getMessage(),
            "exchange 'x.0.0' moves more than 1 GiB to a peer at a time; build "
            "with a smaller --microbatch-size");
}

namespace {
struct FewTags : LateTransport {
  uint32_t getTagLimit() const override { return FirstChannelTag + 11; }
};
} // namespace

TEST(Exchange, HasTagsOfItsOwn) {
  Replica replica(2, 2, /*blockNumbers=*/1, /*sentSlots=*/1);
  RankOptions options;
  FewTags transport;
  Progress progress;
  PprtContext context(replica.descriptor, options, transport, progress);
  EXPECT_EQ(context.device->start().getMessage(),
            "this MPI has 27 tags, and the program needs 28");
}
