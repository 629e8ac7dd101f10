//===- MemoryTests.cpp - Loads, stores, copies and what orders them
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFile.h"
#include "Snippet.h"

#include <algorithm>

using namespace pipewright::ptx;

namespace {
/// A kernel whose parameters are the addresses of two buffers, in %d1 and %d2.
std::shared_ptr<const Module> makeKernel(const std::string &body) {
  return parseModule(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{
  .reg .pred %p<10>;
  .reg .b32 %r<20>;
  .reg .b64 %d<20>;
  .shared .align 16 .b8 buffer[1024];
  ld.param.u64 %d1, [a];
  ld.param.u64 %d2, [b];
)" + body + "\n}\n");
}

struct TwoBuffers {
  explicit TwoBuffers(const std::string &body,
                      std::vector<uint32_t> values = std::vector<uint32_t>(64))
      : machine(makeKernel(body)), a(machine.upload("a", values)),
        b(machine.upload("b", std::vector<uint32_t>(64))) {}

  Launch make(uint32_t grid, uint32_t block) {
    return Launch("k", {grid}, {block}).argument(a).argument(b);
  }
  LaunchResult launch(uint32_t grid = 1, uint32_t block = 1) {
    return machine.launch(make(grid, block));
  }
  std::vector<uint32_t> getB() { return machine.download<uint32_t>(b, 64); }

  Machine machine;
  Address a, b;
};

/// That the first fault is of this kind. The other access of a race can be the
/// second.
void expectFirst(const LaunchResult &result, FaultKind kind,
                 const std::string &part) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.faults[0].kind, kind) << result.describe();
  EXPECT_NE(result.faults[0].message.find(part), std::string::npos)
      << result.faults[0].message;
}
} // namespace

TEST(PtxMemory, LoadsExtendToTheRegister) {
  EXPECT_EQ(Snippet("st.shared.b32 [buffer], %r0;\n"
                    "ld.shared.s8 %r9, [buffer+1];",
                    'r')(0x8080FF01),
            0xFFFFFFFFu);
  EXPECT_EQ(Snippet("st.shared.b32 [buffer], %r0;\n"
                    "ld.shared.u8 %r9, [buffer+1];",
                    'r')(0x8080FF01),
            0xFFu);
  EXPECT_EQ(Snippet("st.shared.b16 [buffer+8], %h0;\n mov.u32 %r8, buffer;\n"
                    "add.s32 %r8, %r8, 16;\n ld.shared.s16 %d9, [%r8+-8];",
                    'd')(0x8000),
            0xFFFFFFFFFFFF8000u);
}

TEST(PtxMemory, HasVectorsOfEveryWidth) {
  std::vector<uint32_t> values(64);
  for (uint32_t i = 0; i < 64; ++i)
    values[i] = i + 100;
  TwoBuffers buffers(R"(
  ld.global.nc.L1::no_allocate.L2::256B.v8.b32
      {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%d1+32];
  st.global.v8.b32 [%d2], {%r7, %r6, %r5, %r4, %r3, %r2, %r1, %r0};
  ld.global.v4.u8 {%r8, %r9, %r10, %r11}, [%d1];
  st.global.cs.v2.b32 [%d2+32], {%r8, %r9};
  ld.volatile.global.v2.u64 {%d3, %d4}, [%d1+16];
  st.global.b64 [%d2+40], %d4;)",
                     values);
  LaunchResult result = buffers.launch();
  ASSERT_TRUE(result.ok()) << result.describe();
  std::vector<uint32_t> b = buffers.getB();
  for (uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(b[i], 115 - i);
  EXPECT_EQ(b[8], 100u);
  EXPECT_EQ(b[9], 0u);
  EXPECT_EQ(b[10], 106u);
  EXPECT_EQ(b[11], 107u);
}

TEST(PtxMemory, CountsSectorsThatAWarpTouches) {
  // 64 bytes apart, every thread has a sector of its own.
  TwoBuffers buffers("mov.u32 %r0, %tid.x;\n mul.wide.u32 %d3, %r0, 64;\n"
                     "add.s64 %d3, %d1, %d3;\n ld.global.u32 %r1, [%d3];");
  LaunchResult result = buffers.launch(1, 4);
  ASSERT_TRUE(result.ok()) << result.describe();
  EXPECT_EQ(result.counters.traffic["a"].bytesRead, 16);
  EXPECT_EQ(result.counters.traffic["a"].sectorsRead, 4);
}

/// The bank conflicts of a warp whose lanes store \p stride bytes apart.
static int64_t countConflicts(int stride, const std::string &store) {
  TwoBuffers buffers(
      "mov.u32 %r0, %tid.x;\n mul.lo.u32 %r1, %r0, " + std::to_string(stride) +
      ";\n mov.u32 %r2, buffer;\n add.u32 %r1, %r1, %r2;\n" + store);
  LaunchResult result = buffers.launch(1, 32);
  EXPECT_TRUE(result.ok()) << result.describe();
  return result.counters.traffic["shared"].bankConflicts;
}

TEST(PtxMemory, CountsBankConflicts) {
  EXPECT_EQ(countConflicts(4, "st.shared.u32 [%r1], %r0;"), 0);
  EXPECT_EQ(countConflicts(12, "st.shared.u32 [%r1], %r0;"), 0);
  // Every second bank, for two lanes each; every eighth, for eight each.
  EXPECT_EQ(countConflicts(8, "st.shared.u32 [%r1], %r0;"), 1);
  EXPECT_EQ(countConflicts(32, "st.shared.u32 [%r1], %r0;"), 7);
  // 16 lanes at once, then 8.
  EXPECT_EQ(countConflicts(8, "st.shared.v2.u32 [%r1], {%r0, %r0};"), 0);
  EXPECT_EQ(countConflicts(16, "st.shared.v4.u32 [%r1], {%r0, %r0, %r0, "
                               "%r0};"),
            0);
  EXPECT_EQ(countConflicts(16, "st.shared.v2.u32 [%r1], {%r0, %r0};"), 2);
  // Lanes that want the same word are served together.
  EXPECT_EQ(countConflicts(2, "st.shared.u16 [%r1], %r0;"), 0);
  EXPECT_EQ(countConflicts(0, "st.shared.u32 [%r1], 1;"), 0);
}

TEST(PtxMemory, AsynchronousCopiesFillWithZero) {
  EXPECT_EQ(TwoBuffers("st.shared.b64 [buffer], 0;\n"
                       "cp.async.ca.shared.global [buffer], [%d1], 8, 4;\n"
                       "cp.async.wait_all;\n"
                       "ld.shared.v2.u32 {%r0, %r1}, [buffer];\n"
                       "st.global.v2.u32 [%d2], {%r0, %r1};",
                       {7, 9})
                .launch()
                .describe(),
            "");
  TwoBuffers buffers("cp.async.ca.shared.global [buffer], [%d1], 8, 4;\n"
                     "cp.async.wait_all;\n"
                     "ld.shared.v2.u32 {%r0, %r1}, [buffer];\n"
                     "st.global.v2.u32 [%d2], {%r0, %r1};",
                     {7, 9});
  EXPECT_TRUE(buffers.launch().ok());
  EXPECT_EQ(buffers.getB()[0], 7u);
  EXPECT_EQ(buffers.getB()[1], 0u);
}

TEST(PtxMemory, AsynchronousCopiesWaitByGroups) {
  // The first of two groups has come; the second has not.
  std::string copies = "cp.async.ca.shared.global [buffer], [%d1], 4;\n"
                       "cp.async.commit_group;\n"
                       "cp.async.ca.shared.global [buffer+16], [%d1+4], 4;\n"
                       "cp.async.commit_group;\n"
                       "cp.async.wait_group 1;\n"
                       "ld.shared.u32 %r0, [buffer];\n"
                       "st.global.u32 [%d2], %r0;\n";
  TwoBuffers first(copies, {7, 9});
  LaunchResult result = first.launch();
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_EQ(first.getB()[0], 7u);
  TwoBuffers second(copies + "ld.shared.u32 %r1, [buffer+16];\n", {7, 9});
  EXPECT_TRUE(second.launch().has(FaultKind::Race));
}

TEST(PtxMemory, ReadOnlyCacheSeesNoWrites) {
  std::string write = "st.global.u32 [%d1], 5;\n";
  EXPECT_TRUE(TwoBuffers(write + "ld.global.u32 %r0, [%d1];").launch().ok());
  expectFirst(TwoBuffers(write + "ld.global.nc.u32 %r0, [%d1];").launch(),
              FaultKind::Race,
              "past a cache that does not see the write of thread (0,0,0)");
}

TEST(PtxMemory, ConstantsAndParametersAreInTheirSpaces) {
  // A parameter's own address, made generic.
  TwoBuffers buffers("mov.b64 %d3, a;\n cvta.param.u64 %d4, %d3;\n"
                     "ld.u64 %d5, [%d4];\n sub.s64 %d6, %d5, %d1;\n"
                     "isspacep.param %p1, %d4;\n selp.b64 %d7, 3, 4, %p1;\n"
                     "st.global.v2.u64 [%d2], {%d6, %d7};");
  LaunchResult result = buffers.launch();
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_EQ(buffers.getB()[0], 0u);
  EXPECT_EQ(buffers.getB()[2], 3u);
}

TEST(PtxMemory, EveryThreadKnowsItsPlace) {
  ModuleOrError module = Module::parse(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<20>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %tid.x;  mov.u32 %r1, %tid.y;  mov.u32 %r2, %tid.z;
  mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ntid.z;
  mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %nctaid.x;
  mad.lo.u32 %r9, %r2, %r4, %r1;
  mad.lo.u32 %r9, %r9, %r3, %r0;   // Thread in the block.
  mul.lo.u32 %r10, %r3, %r4;
  mul.lo.u32 %r10, %r10, %r5;      // Threads of a block.
  mad.lo.u32 %r11, %r7, %r8, %r6;  // Block in the grid.
  mad.lo.u32 %r12, %r11, %r10, %r9;
  mul.wide.u32 %d1, %r12, 4;
  add.s64 %d1, %d0, %d1;
  mov.u32 %r13, %lanemask_lt;
  popc.b32 %r13, %r13;
  mov.u32 %r14, %warpid;
  mad.lo.u32 %r13, %r14, 32, %r13; // Thread in the block, by its warp.
  mad.lo.u32 %r13, %r11, 1000, %r13;
  st.global.u32 [%d1], %r13;
}
)");
  ASSERT_TRUE(module) << module.error;
  Machine machine(module.value);
  Address out = machine.allocate("out", 6 * 60 * 4);
  LaunchResult result =
      machine.launch(Launch("k", {3, 2}, {5, 4, 3}).argument(out));
  ASSERT_TRUE(result.ok()) << result.describe();
  std::vector<uint32_t> values = machine.download<uint32_t>(out, 360);
  for (uint32_t i = 0; i < 360; ++i)
    EXPECT_EQ(values[i], i / 60 * 1000 + i % 60);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

TEST(PtxMemory, StrongAccessesDoNotRace) {
  auto launch = [](const char *access) {
    return TwoBuffers(std::string("mov.u32 %r0, %ctaid.x;\n") + access)
        .launch(2, 1);
  };
  EXPECT_TRUE(launch("st.global.u32 [%d1], %r0;").has(FaultKind::BlockRace));
  EXPECT_TRUE(launch("st.volatile.global.u32 [%d1], %r0;").ok());
  EXPECT_TRUE(launch("st.relaxed.gpu.global.u32 [%d1], %r0;").ok());
  EXPECT_TRUE(launch("red.global.add.u32 [%d1], 1;").ok());
  EXPECT_TRUE(launch("red.relaxed.gpu.global.add.v4.f32 [%d1], "
                     "{%r0, %r0, %r0, %r0};")
                  .ok());
  // Atomic and plain ones do.
  EXPECT_TRUE(launch("red.global.add.u32 [%d1], 1;\n"
                     "ld.global.u32 %r1, [%d1];")
                  .has(FaultKind::BlockRace));
}

TEST(PtxMemory, BlocksThatReadAndWriteRace) {
  // Block 0 reads what block 1 writes, whichever runs first.
  std::string body = "mov.u32 %r0, %ctaid.x;\n setp.eq.u32 %p1, %r0, WHO;\n"
                     "@%p1 st.global.u32 [%d1], 5;\n"
                     "@!%p1 ld.global.u32 %r1, [%d1];\n";
  for (const char *who : {"0", "1"}) {
    std::string text = body;
    text.replace(text.find("WHO"), 3, who);
    expectFirst(TwoBuffers(text).launch(2, 1), FaultKind::BlockRace,
                "of 'a', which nothing orders with the");
    TwoBuffers unchecked(text);
    Launch launch = unchecked.make(2, 1);
    launch.checkRacesOfBlocks = false;
    EXPECT_TRUE(unchecked.machine.launch(launch).ok());
  }
  // Reads alone do not.
  EXPECT_TRUE(TwoBuffers("ld.global.u32 %r1, [%d1];").launch(2, 1).ok());
}

TEST(PtxMemory, LaunchesFollowEachOther) {
  TwoBuffers buffers("st.global.u32 [%d1], 5;\n ld.global.u32 %r0, [%d1];\n"
                     "st.global.u32 [%d2], %r0;");
  EXPECT_TRUE(buffers.launch().ok());
  EXPECT_TRUE(buffers.launch().ok());
  EXPECT_EQ(buffers.getB()[0], 5u);
}

TEST(PtxMemory, ThreadsOfABlockRaceInGlobalMemory) {
  std::string body = "mov.u32 %r0, %tid.x;\n mul.wide.u32 %d3, %r0, 4;\n"
                     "add.s64 %d4, %d1, %d3;\n st.global.u32 [%d4], %r0;\n"
                     "BARRIER\n xor.b32 %r1, %r0, 32;\n"
                     "mul.wide.u32 %d3, %r1, 4;\n add.s64 %d4, %d1, %d3;\n"
                     "ld.global.u32 %r2, [%d4];\n";
  auto launch = [&](const char *barrier) {
    std::string text = body;
    text.replace(text.find("BARRIER"), 7, barrier);
    return TwoBuffers(text).launch(1, 64);
  };
  EXPECT_TRUE(launch("bar.sync 0;").ok());
  expectFirst(launch(""), FaultKind::Race,
              "with the read of thread (0,0,0) of block (0,0,0) in line 20");
}

TEST(PtxMemory, FindsReadersBeforeAWriter) {
  // Threads 0 to 63 read a word, then thread 5 writes it.
  std::string body = "mov.u32 %r0, %tid.x;\n ld.global.u32 %r1, [%d1];\n"
                     "BARRIER\n setp.eq.u32 %p1, %r0, 5;\n"
                     "@%p1 st.global.u32 [%d1], 9;\n";
  auto launch = [&](const char *barrier) {
    std::string text = body;
    text.replace(text.find("BARRIER"), 7, barrier);
    return TwoBuffers(text).launch(1, 64);
  };
  EXPECT_TRUE(launch("bar.sync 0;").ok());
  expectFirst(launch(""), FaultKind::Race, "with the read of thread");
  // The other warp's reads are not ordered by what orders one warp.
  EXPECT_TRUE(launch("bar.warp.sync 0xFFFFFFFF;").has(FaultKind::Race));
}

TEST(PtxMemory, FindsAReaderBeforeTheWritersOwnRead) {
  expectFirst(TwoBuffers("mov.u32 %r0, %tid.x;\n setp.ge.u32 %p1, %r0, 3;\n"
                         "@%p1 ld.global.u32 %r1, [%d1];\n"
                         "setp.eq.u32 %p2, %r0, 4;\n"
                         "@%p2 st.global.u32 [%d1], 9;\n")
                  .launch(1, 5),
              FaultKind::Race, "with the read of thread (3,0,0)");
}

TEST(PtxMemory, FindsAReaderOfAnotherWarpAmongMany) {
  // Lanes 0 and 1 read, then thread 32, and a flag, which orders nothing, tells
  // lane 0 to go on. It is ordered with lane 1 alone.
  expectFirst(TwoBuffers("mov.u32 %r0, %tid.x;\n"
                         "setp.eq.u32 %p1, %r0, 32;\n"
                         "and.b32 %r3, %r0, 31;\n"
                         "setp.gt.u32 %p2, %r3, 1;\n @%p2 bra $end;\n"
                         "@%p1 bra $other;\n"
                         "ld.global.u32 %r1, [%d1];\n"
                         "$wait:\n ld.volatile.global.u32 %r2, [%d2];\n"
                         "setp.eq.u32 %p3, %r2, 0;\n @%p3 bra $wait;\n"
                         "bar.warp.sync 3;\n"
                         "setp.eq.u32 %p4, %r0, 0;\n"
                         "@%p4 st.global.u32 [%d1], 9;\n bra $end;\n"
                         "$other:\n ld.global.u32 %r1, [%d1];\n"
                         "st.volatile.global.u32 [%d2], 1;\n$end:\n")
                  .launch(1, 33),
              FaultKind::Race, "with the read of thread (32,0,0)");
}

//===----------------------------------------------------------------------===//
// What PTX leaves undefined
//===----------------------------------------------------------------------===//

TEST(PtxMemory, RefusesUndefinedOperands) {
  expectFirst(Snippet("mov.u64 %d9, 0;\n bar.sync 1, 48;", 'd').launch(64),
              FaultKind::Undefined, "barrier 1 of 48 threads");
  expectFirst(Snippet("$t: .branchtargets $L;\n mov.u64 %d9, 0;\n"
                      "brx.idx %r0, $t;\n$L:\n",
                      'd')
                  .launch(2),
              FaultKind::Undefined, "branches to target 1 of 1");
  expectFirst(Snippet("mov.u32 %r9, 1;\n @%p3 mov.u32 %r9, 2;", 'r').launch(1),
              FaultKind::Uninitialized, "reads register %p3");
  expectFirst(Snippet("ld.global.u32 %r9, [%d20];", 'r').launch(1),
              FaultKind::Uninitialized, "reads register %d20");
}

TEST(PtxMemory, BarriersThatAreNotAlignedMeetAnywhere) {
  std::string body = "setp.lt.u32 %p1, %tid, 16;\n mov.u64 %d9, 0;\n"
                     "@%p1 bra $low;\n barrier.sync 0;\n bra $join;\n"
                     "$low:\n barrier.sync 0;\n$join:\n";
  LaunchResult result = Snippet(body, 'd').launch(32);
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_EQ(result.counters.barriers, 1);
}
