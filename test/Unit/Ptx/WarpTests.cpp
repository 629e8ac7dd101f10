//===- WarpTests.cpp - Shuffles, votes, atomics, barriers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include <algorithm>

using namespace pipewright::ptx;

namespace {
using Lanes = std::vector<uint64_t>;

/// What each lane gets from \p formula.
template <typename Formula>
Lanes forLanes(Formula formula) {
  Lanes lanes;
  for (unsigned lane = 0; lane < 32; ++lane)
    lanes.push_back(formula(lane));
  return lanes;
}
} // namespace

TEST(PtxWarps, ShuffleInEveryMode) {
  auto shuffle = [](const char *modeAndOperands) {
    return Snippet(std::string("shfl.sync.") + modeAndOperands +
                       ", 0xFFFFFFFF;",
                   'r')
        .forThreads(32);
  };
  EXPECT_EQ(shuffle("down.b32 %r9, %r0, 4, 31"),
            forLanes([](unsigned l) { return l + 4 < 32 ? l + 4 : l; }));
  EXPECT_EQ(shuffle("up.b32 %r9, %r0, 4, 0"),
            forLanes([](unsigned l) { return l >= 4 ? l - 4 : l; }));
  EXPECT_EQ(shuffle("bfly.b32 %r9, %r0, 8, 31"),
            forLanes([](unsigned l) { return l ^ 8; }));
  EXPECT_EQ(shuffle("idx.b32 %r9, %r0, 7, 31"),
            forLanes([](unsigned) { return 7; }));
  // Segments of 8 lanes: the mask of segments is 0x18.
  EXPECT_EQ(shuffle("idx.b32 %r9, %r0, 3, 0x181F"),
            forLanes([](unsigned l) { return l / 8 * 8 + 3; }));
  EXPECT_EQ(shuffle("down.b32 %r9, %r0, 2, 0x181F"),
            forLanes([](unsigned l) { return l % 8 < 6 ? l + 2 : l; }));
  EXPECT_EQ(shuffle("up.b32 %r9, %r0, 2, 0x1800"),
            forLanes([](unsigned l) { return l % 8 >= 2 ? l - 2 : l; }));
}

TEST(PtxWarps, ShuffleSaysWhatIsInRange) {
  Snippet snippet("shfl.sync.down.b32 %r9|%p9, %r0, 4, 31, 0xFFFFFFFF;", 'p');
  EXPECT_EQ(snippet.forThreads(32),
            forLanes([](unsigned l) { return l + 4 < 32; }));
}

TEST(PtxWarps, ShuffleInHalfWarpsAtOnce) {
  // Each half gives its own mask, in one instruction.
  Snippet snippet("setp.lt.u32 %p1, %tid, 16;\n"
                  "selp.b32 %r8, 0xFFFF, 0xFFFF0000, %p1;\n"
                  "shfl.sync.bfly.b32 %r9, %r0, 1, 31, %r8;",
                  'r');
  EXPECT_EQ(snippet.forThreads(32), forLanes([](unsigned l) { return l ^ 1; }));
}

TEST(PtxWarps, WaitForLanesThatComeLater) {
  // Odd lanes take a longer way to the shuffle, at a higher place.
  Snippet snippet("and.b32 %r8, %tid, 1;\n setp.eq.u32 %p1, %r8, 1;\n"
                  "mov.u32 %r7, %r0;\n"
                  "@%p1 bra $odd;\n"
                  "$join:\n"
                  "shfl.sync.bfly.b32 %r9, %r7, 1, 31, 0xFFFFFFFF;\n"
                  "bra $done;\n"
                  "$odd:\n add.s32 %r7, %r7, 100;\n bra $join;\n"
                  "$done:\n",
                  'r');
  EXPECT_EQ(snippet.forThreads(32), forLanes([](unsigned l) {
              unsigned other = l ^ 1;
              return other + (other % 2 ? 100 : 0);
            }));
}

TEST(PtxWarps, Vote) {
  std::string odd = "and.b32 %r8, %tid, 1;\n setp.eq.u32 %p1, %r8, 1;\n";
  EXPECT_EQ(Snippet(odd + "vote.sync.ballot.b32 %r9, %p1, 0xFFFFFFFF;", 'r')
                .forThreads(32),
            Lanes(32, 0xAAAAAAAA));
  EXPECT_EQ(Snippet(odd + "vote.sync.any.pred %p9, %p1, 0xFFFFFFFF;", 'p')
                .forThreads(32),
            Lanes(32, 1));
  EXPECT_EQ(Snippet(odd + "vote.sync.all.pred %p9, !%p1, 0xFFFFFFFF;", 'p')
                .forThreads(32),
            Lanes(32, 0));
  EXPECT_EQ(Snippet(odd + "vote.sync.uni.pred %p9, %p1, 0xFFFFFFFF;", 'p')
                .forThreads(32),
            Lanes(32, 0));
  EXPECT_EQ(Snippet(odd + "mov.u32 %r9, 7;\n @%p1 activemask.b32 %r9;", 'r')
                .forThreads(32),
            forLanes([](unsigned l) { return l % 2 ? 0xAAAAAAAAu : 7u; }));
}

TEST(PtxWarps, MatchAndElect) {
  std::string third = "rem.u32 %r8, %tid, 3;\n";
  Lanes lanes = Snippet(third + "match.any.sync.b32 %r9, %r8, 0xFFFFFFFF;", 'r')
                    .forThreads(32);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned other = 0; other < 32; ++other)
      EXPECT_EQ(lanes[lane] >> other & 1, lane % 3 == other % 3);
  EXPECT_EQ(Snippet("mov.u32 %r8, 5;\n"
                    "match.all.sync.b32 %r9|%p9, %r8, 0xFFFFFFFF;",
                    'r')
                .forThreads(32),
            Lanes(32, 0xFFFFFFFF));
  EXPECT_EQ(Snippet("match.all.sync.b32 %r9|%p9, %r0, 0xFFFFFFFF;", 'p')
                .forThreads(32),
            Lanes(32, 0));
  EXPECT_EQ(Snippet("elect.sync %r9|%p9, 0xFFFFFFFF;", 'p').forThreads(32),
            forLanes([](unsigned l) { return l == 0; }));
}

TEST(PtxWarps, Reduce) {
  auto reduce = [](const char *operation) {
    return Snippet(
        std::string("redux.sync.") + operation + " %r9, %r8, 0xFFFFFFFF;", 'r');
  };
  auto evaluate = [&](const char *operation) {
    return Snippet("sub.s32 %r8, %r0, 5;\n redux.sync." +
                       std::string(operation) + " %r9, %r8, 0xFFFFFFFF;",
                   'r')
        .forThreads(32);
  };
  EXPECT_FALSE(reduce("add.s32").launch(32).ok()); // %r8 is not written.
  EXPECT_EQ(evaluate("add.s32"), Lanes(32, 31 * 16 - 5 * 32));
  EXPECT_EQ(evaluate("min.s32"), Lanes(32, uint32_t(-5)));
  EXPECT_EQ(evaluate("min.u32"), Lanes(32, 0));
  EXPECT_EQ(evaluate("max.s32"), Lanes(32, 26));
  EXPECT_EQ(evaluate("or.b32"), Lanes(32, 0xFFFFFFFF));
  EXPECT_EQ(evaluate("and.b32"), Lanes(32, 0));
}

TEST(PtxAtomics, ReturnWhatWasThere) {
  // One thread writes the start, then all add 3.
  std::string start = "setp.eq.u32 %p1, %tid, 0;\n"
                      "@%p1 st.shared.u32 [buffer], 100;\n bar.sync 0;\n";
  Lanes old = Snippet(start + "atom.shared.add.u32 %r9, [buffer], 3;", 'r')
                  .forThreads(64);
  std::sort(old.begin(), old.end());
  for (unsigned i = 0; i < 64; ++i)
    EXPECT_EQ(old[i], 100 + 3 * i);
}

TEST(PtxAtomics, DoEveryOperation) {
  auto evaluate = [](const char *operation, uint32_t start, uint32_t value) {
    std::string text = "st.shared.u32 [buffer], %r0;\n red.shared." +
                       std::string(operation) +
                       " [buffer], %r1;\n"
                       "ld.shared.u32 %r9, [buffer];";
    return Snippet(text, 'r')(start, value);
  };
  EXPECT_EQ(evaluate("min.s32", uint32_t(-1), 5), uint32_t(-1));
  EXPECT_EQ(evaluate("min.u32", uint32_t(-1), 5), 5u);
  EXPECT_EQ(evaluate("max.u32", 3, 5), 5u);
  EXPECT_EQ(evaluate("and.b32", 12, 10), 8u);
  EXPECT_EQ(evaluate("or.b32", 12, 10), 14u);
  EXPECT_EQ(evaluate("xor.b32", 12, 10), 6u);
  EXPECT_EQ(evaluate("inc.u32", 5, 5), 0u);
  EXPECT_EQ(evaluate("inc.u32", 4, 5), 5u);
  EXPECT_EQ(evaluate("dec.u32", 0, 5), 5u);
  EXPECT_EQ(evaluate("add.f32", bits(1.5f), bits(2.0f)), bits(3.5f));
  EXPECT_EQ(evaluate("add.noftz.f16x2", 0x3C004000, 0x3C003C00), 0x40004200u);
  EXPECT_EQ(evaluate("add.noftz.bf16x2", 0x3F803F80, 0x3F804000), 0x40004040u);
  Snippet swap("st.shared.u32 [buffer], %r0;\n"
               "atom.shared.cas.b32 %r8, [buffer], %r1, %r2;\n"
               "ld.shared.u32 %r9, [buffer];",
               'r');
  EXPECT_EQ(swap(1, 1, 9), 9u);
  EXPECT_EQ(swap(1, 2, 9), 1u);
}

TEST(PtxBarriers, CountPredicates) {
  std::string odd = "and.b32 %r8, %tid, 1;\n setp.eq.u32 %p1, %r8, 1;\n";
  EXPECT_EQ(Snippet(odd + "bar.red.popc.u32 %r9, 0, %p1;", 'r').forThreads(96),
            Lanes(96, 48));
  EXPECT_EQ(Snippet(odd + "bar.red.or.pred %p9, 0, %p1;", 'p').forThreads(64),
            Lanes(64, 1));
  EXPECT_EQ(Snippet(odd + "barrier.cta.red.and.pred %p9, 0, %p1;", 'p')
                .forThreads(64),
            Lanes(64, 0));
}

TEST(PtxBarriers, ProducersArriveAndConsumersWait) {
  // Warp 0 writes and goes on, warp 1 waits and reads.
  std::string body = "setp.ge.u32 %p1, %tid, 32;\n"
                     "and.b32 %r8, %tid, 31;\n shl.b32 %r8, %r8, 2;\n"
                     "mov.u32 %r7, buffer;\n add.s32 %r8, %r8, %r7;\n"
                     "mov.u32 %r9, 0;\n"
                     "@%p1 bra $consume;\n"
                     "st.shared.u32 [%r8], %r0;\n"
                     "bar.arrive 3, 64;\n bra $end;\n"
                     "$consume:\n bar.sync 3, 64;\n"
                     "ld.shared.u32 %r9, [%r8];\n$end:\n";
  Lanes lanes = Snippet(body, 'r').forThreads(64);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(lanes[32 + i], i);
}

TEST(PtxBarriers, OrderTheLanesOfTheirWarps) {
  Snippet snippet("setp.eq.u32 %p1, %tid, 0;\n"
                  "@%p1 st.shared.u32 [buffer], 5;\n"
                  "bar.sync 1, 64;\n"
                  "ld.shared.u32 %r9, [buffer];",
                  'r');
  // Also with a third warp, which makes the barrier one of a part.
  EXPECT_EQ(snippet.forThreads(64), Lanes(64, 5));
  Snippet partial("mov.u32 %r9, 5;\n setp.ge.u32 %p2, %tid, 64;\n"
                  "@%p2 bra $end;\n setp.eq.u32 %p1, %tid, 0;\n"
                  "@%p1 st.shared.u32 [buffer], 5;\n"
                  "bar.sync 1, 64;\n"
                  "ld.shared.u32 %r9, [buffer];\n$end:\n",
                  'r');
  EXPECT_EQ(partial.forThreads(96), Lanes(96, 5));
}

TEST(PtxWarps, DoNotWaitForLanesThatHaveExited) {
  Snippet snippet("mov.u32 %r9, 0;\n st.global.u64 [%out], 7;\n"
                  "setp.ge.u32 %p1, %tid, 16;\n @%p1 bra $end;\n"
                  "shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0xFFFFFFFF;\n"
                  "bra $done;\n$end:\n exit;\n$done:\n",
                  'r');
  Lanes lanes = snippet.forThreads(32);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(lanes[i], i < 16 ? i ^ 1 : 7);
}

/// A module whose function comes after the kernel that calls it.
static LaunchResult runWithFunction(const std::string &kernel,
                                    const std::string &function,
                                    std::vector<uint32_t> &results) {
  ModuleOrError module = Module::parse(
      ".func (.param .b32 result) f(.param .b32 x);\n"
      ".visible .entry k(.param .u64 out)\n{\n"
      ".reg .pred %p<4>;\n .reg .b32 %r<8>;\n .reg .b64 %d<3>;\n"
      ".param .b32 argument;\n .param .b32 value;\n"
      "ld.param.u64 %d0, [out];\n mov.u32 %r0, %tid.x;\n"
      "mul.wide.u32 %d1, %r0, 4;\n add.s64 %d0, %d0, %d1;\n" +
      kernel +
      "st.global.u32 [%d0], %r1;\n}\n"
      ".func (.param .b32 result) f(.param .b32 x)\n{\n"
      ".reg .pred %p<4>;\n .reg .b32 %r<8>;\n ld.param.u32 %r0, [x];\n" +
      function + "st.param.b32 [result], %r1;\n ret;\n}\n");
  EXPECT_TRUE(module) << module.error;
  Machine machine(module.value);
  Address out = machine.allocate("out", 128);
  LaunchResult result = machine.launch(Launch("k", {1}, {32}).argument(out));
  results = machine.download<uint32_t>(out, 32);
  return result;
}

TEST(PtxControl, LanesMeetAfterACall) {
  // Lanes from 8 on call; all are together after it.
  std::vector<uint32_t> results;
  LaunchResult result = runWithFunction(
      "setp.lt.u32 %p1, %r0, 8;\n @%p1 bra $skip;\n"
      "st.param.b32 [argument], %r0;\n"
      "call (value), f, (argument);\n$skip:\n activemask.b32 %r1;\n",
      "mov.u32 %r1, %r0;\n", results);
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_EQ(results, std::vector<uint32_t>(32, 0xFFFFFFFF));
}

TEST(PtxControl, CallsBeginWithUnwrittenRegisters) {
  // The first call writes %r1, the second does not.
  std::vector<uint32_t> results;
  std::string call = "st.param.b32 [argument], %r2;\n"
                     "call (value), f, (argument);\n";
  LaunchResult result = runWithFunction(
      "mov.u32 %r2, 0;\n" + call + "mov.u32 %r2, 1;\n" + call +
          "ld.param.b32 %r1, [value];\n",
      "setp.eq.u32 %p1, %r0, 0;\n @%p1 mov.u32 %r1, 5;\n", results);
  ASSERT_TRUE(result.has(FaultKind::Uninitialized)) << result.describe();
  EXPECT_NE(result.describe().find("reads register %r1"), std::string::npos);
}

TEST(PtxControl, BranchByAnIndex) {
  Snippet snippet("rem.u32 %r8, %tid, 3;\n"
                  "$targets: .branchtargets $zero, $one, $two;\n"
                  "brx.idx %r8, $targets;\n"
                  "$zero:\n mov.u32 %r9, 10;\n bra.uni $end;\n"
                  "$one:\n mov.u32 %r9, 11;\n bra.uni $end;\n"
                  "$two:\n mov.u32 %r9, 12;\n$end:\n",
                  'r');
  Lanes lanes = snippet.forThreads(32);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(lanes[i], 10 + i % 3);
}

TEST(PtxControl, LanesOfAWarpTakeALockInTurn) {
  // A lane that has the lock must go on while the others try to get it.
  Snippet snippet("setp.eq.u32 %p1, %tid, 0;\n"
                  "@%p1 st.volatile.shared.u32 [buffer], 0;\n"
                  "@%p1 st.volatile.shared.u32 [buffer+4], 0;\n"
                  "bar.sync 0;\n"
                  "$try:\n"
                  "atom.shared.cas.b32 %r8, [buffer], 0, 1;\n"
                  "setp.ne.u32 %p2, %r8, 0;\n @%p2 bra $try;\n"
                  "ld.volatile.shared.u32 %r7, [buffer+4];\n"
                  "add.s32 %r9, %r7, 1;\n"
                  "st.volatile.shared.u32 [buffer+4], %r9;\n"
                  "atom.shared.exch.b32 %r6, [buffer], 0;\n",
                  'r');
  Lanes lanes = snippet.forThreads(64);
  std::sort(lanes.begin(), lanes.end());
  for (unsigned i = 0; i < 64; ++i)
    EXPECT_EQ(lanes[i], i + 1);
}
