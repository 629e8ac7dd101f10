//===- FaultTests.cpp - Kernels that are wrong
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is a kernel of test/Ptx/Inputs as nvcc compiles it, launched wrongly or
// with a line changed, or a few instructions.
//
//===----------------------------------------------------------------------===//

#include "KernelFile.h"
#include "Snippet.h"

#include <limits>

using namespace pipewright::ptx;

namespace {
/// That the launch has just this fault, and its message has these parts.
void expectFault(const LaunchResult &result, FaultKind kind,
                 std::initializer_list<const char *> parts) {
  ASSERT_TRUE(result.has(kind)) << result.describe();
  for (const Fault &fault : result.faults) {
    if (fault.kind != kind)
      continue;
    for (const char *part : parts)
      EXPECT_NE(fault.message.find(part), std::string::npos)
          << "no '" << part << "' in: " << fault.message;
    return;
  }
}

/// The softmax of rows.cu on two rows of 256.
LaunchResult runSoftmax(std::shared_ptr<const Module> module) {
  Machine machine(std::move(module));
  Address x = machine.upload("x", makeNormal(512, 1));
  Address y = machine.allocate("y", 2048);
  return machine.launch(
      Launch("softmax", {2}, {128}).argument(x).argument(y).argument(256));
}

/// The add_vec4 of elementwise.cu on 256 numbers.
struct VectorAdd {
  Machine machine{loadModule("nvcc/elementwise")};
  Address x = machine.upload("x", makeNormal(256, 1));
  Address y = machine.upload("y", makeNormal(256, 2));
  Address z = machine.allocate("z", 1024);

  LaunchResult launch(uint32_t grid, Address px, Address py, Address pz) {
    return machine.launch(Launch("add_vec4", {grid}, {32})
                              .argument(px)
                              .argument(py)
                              .argument(pz));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

TEST(PtxFaults, GridOneBlockTooLarge) {
  VectorAdd add;
  EXPECT_TRUE(add.launch(2, add.x, add.y, add.z).ok());
  expectFault(add.launch(3, add.x, add.y, add.z), FaultKind::OutOfBounds,
              {"add_vec4, line ", "ld.global",
               "thread (0,0,0) of block (2,0,0)", "reads 16 bytes of global",
               "0 bytes past the end of", "of 1024 bytes"});
}

TEST(PtxFaults, MisalignedPointer) {
  VectorAdd add;
  expectFault(add.launch(1, add.x + 4, add.y, add.z), FaultKind::Misaligned,
              {"reads 16 bytes", "of 'x', which is not a multiple"});
}

TEST(PtxFaults, SwappedPointers) {
  VectorAdd add;
  add.machine.protect(add.x);
  expectFault(add.launch(1, add.z, add.y, add.x), FaultKind::Uninitialized,
              {"of 'z', of which some are not written"});
  expectFault(add.launch(1, add.y, add.y, add.x), FaultKind::ReadOnly,
              {"writes 16 bytes", "of 'x', which is only to be read"});
}

TEST(PtxFaults, NullPointer) {
  VectorAdd add;
  expectFault(add.launch(1, 0, add.y, add.z), FaultKind::OutOfBounds,
              {"at 0x0, before all buffers"});
}

TEST(PtxFaults, UnwrittenInput) {
  VectorAdd add;
  Address empty = add.machine.allocate("empty", 1024);
  LaunchResult result = add.launch(1, empty, add.y, add.z);
  expectFault(result, FaultKind::Uninitialized, {"'empty'"});
  EXPECT_EQ(result.faults.size(), 1u);
}

TEST(PtxFaults, SharedMemoryEnds) {
  expectFault(
      Snippet("st.shared.u32 [buffer+1024], %r0;\n mov.u64 %d9, 0;", 'd')
          .launch(1),
      FaultKind::OutOfBounds,
      {"writes 4 bytes of shared memory", "outside of what"});
  // sum_down asks for dynamic shared memory, which this launch forgets.
  Machine machine(loadModule("nvcc/memory"));
  Address x = machine.upload("x", makeNormal(256, 1));
  Address y = machine.upload("y", std::vector<float>(1));
  expectFault(machine.launch(Launch("sum_down", {1}, {256})
                                 .shared(4 * 4)
                                 .argument(x)
                                 .argument(y)
                                 .argument(256)),
              FaultKind::OutOfBounds, {"thread (128,0,0)", "shared memory"});
}

TEST(PtxFaults, UnwrittenRegistersAndBytes) {
  expectFault(Snippet("add.s32 %r9, %r0, %r20;", 'r').launch(1),
              FaultKind::Uninitialized, {"reads register %r20"});
  // A copy is no use; the sum is.
  LaunchResult copied =
      Snippet("mov.u32 %r21, %r20;\n add.s32 %r9, %r21, 1;", 'r').launch(1);
  expectFault(copied, FaultKind::Uninitialized, {"reads register %r21"});
  expectFault(Snippet("ld.shared.u32 %r9, [buffer+8];", 'r').launch(1),
              FaultKind::Uninitialized, {"4 bytes of shared memory"});
  expectFault(Snippet(".local .align 4 .b8 own[16];\n"
                      "ld.local.u32 %r9, [own+4];",
                      'r')
                  .launch(1),
              FaultKind::Uninitialized, {"4 bytes of local memory"});
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

TEST(PtxFaults, EveryBarrierOfSoftmaxIsNeeded) {
  std::string text = loadText("nvcc/rows");
  // Only softmax, the first kernel of the file with barriers in this order.
  size_t begin = text.find(".entry softmax"),
         end = text.find(".entry", begin + 1);
  std::string header = text.substr(0, text.find(".visible"));
  std::string kernel = header + ".visible " + text.substr(begin, end - begin);
  kernel = kernel.substr(0, kernel.rfind('}') + 1);
  EXPECT_TRUE(runSoftmax(parseModule(kernel)).ok());
  unsigned barriers = 0;
  for (size_t at = kernel.find("bar.sync"); at != std::string::npos;
       at = kernel.find("bar.sync", at + 1))
    ++barriers;
  ASSERT_EQ(barriers, 4u);
  // The last one orders nothing, for nothing follows it.
  for (unsigned i = 1; i < barriers; ++i) {
    std::string changed = replaceLine(kernel, "bar.sync", i, "");
    expectFault(runSoftmax(parseModule(changed)), FaultKind::Race,
                {"softmax, line ", "of 'shared', which nothing orders with",
                 "of thread (", "in line "});
  }
  EXPECT_TRUE(
      runSoftmax(parseModule(replaceLine(kernel, "bar.sync", 4, ""))).ok());
}

TEST(PtxFaults, BlocksAddToOneRow) {
  Machine machine(loadModule("nvcc/memory"));
  Address dy = machine.upload("dy", makeNormal(64, 1));
  Address table = machine.upload("table", std::vector<float>(320));
  auto launch = [&](std::vector<int> ids) {
    Address pi = machine.upload("ids", ids);
    return machine.launch(Launch("scatter_add_racy", {2}, {32})
                              .argument(dy)
                              .argument(pi)
                              .argument(table)
                              .argument(32));
  };
  EXPECT_TRUE(launch({1, 2}).ok());
  expectFault(launch({2, 2}), FaultKind::BlockRace,
              {"thread (0,0,0) of block (1,0,0)", "of 'table'",
               "with the write of thread (0,0,0) of block (0,0,0)"});
}

TEST(PtxFaults, AsynchronousCopyNotWaitedFor) {
  std::string text = loadText("nvcc/memory");
  Address x, y;
  auto run = [&](const std::string &text) {
    Machine machine(parseModule(text));
    x = machine.upload("x", makeNormal(256, 1));
    y = machine.allocate("y", 1024);
    return machine.launch(
        Launch("reverse_async", {1}, {256}).argument(x).argument(y));
  };
  EXPECT_TRUE(run(text).ok());
  LaunchResult result = run(replaceLine(text, "cp.async.wait_group 0", 1, ""));
  expectFault(result, FaultKind::Race, {"asynchronous copy, not waited for"});
  // Without a commit the wait has nothing to wait for.
  expectFault(run(replaceLine(text, "cp.async.commit_group", 1, "")),
              FaultKind::Race, {"not waited for"});
}

TEST(PtxFaults, LanesOfAWarpRaceWithoutWarpSync) {
  std::string write = "shl.b32 %r8, %tid, 2;\n mov.u32 %r7, buffer;\n"
                      "add.s32 %r8, %r7, %r8;\n st.shared.u32 [%r8], %r0;\n";
  std::string read = "xor.b32 %r6, %tid, 1;\n shl.b32 %r6, %r6, 2;\n"
                     "add.s32 %r6, %r7, %r6;\n ld.shared.u32 %r9, [%r6];";
  expectFault(Snippet(write + read, 'r').launch(32), FaultKind::Race,
              {"of 'shared'", "with the write of thread (1,0,0)"});
  Snippet ordered(write + "bar.warp.sync 0xFFFFFFFF;\n" + read, 'r');
  std::vector<uint64_t> results = ordered.forThreads(32);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(results[i], i ^ 1);
  // Threads of another warp are not ordered by it.
  std::string far = "xor.b32 %r6, %tid, 32;\n shl.b32 %r6, %r6, 2;\n"
                    "add.s32 %r6, %r7, %r6;\n ld.shared.u32 %r9, [%r6];";
  LaunchResult result =
      Snippet(write + "bar.warp.sync 0xFFFFFFFF;\n" + far, 'r').launch(64);
  EXPECT_TRUE(result.has(FaultKind::Race)) << result.describe();
}

TEST(PtxFaults, SharedWritesOfOneInstruction) {
  EXPECT_TRUE(Snippet("st.shared.u32 [buffer], 5;\n mov.u64 %d9, 0;", 'd')
                  .launch(32)
                  .ok());
  expectFault(
      Snippet("st.shared.u32 [buffer], %r0;\n mov.u64 %d9, 0;", 'd').launch(32),
      FaultKind::Race, {"with the write of thread (0,0,0)"});
  EXPECT_TRUE(Snippet("@%p0 bra $done;\n$done:\n"
                      "atom.shared.exch.b32 %r9, [buffer], %r0;",
                      'r')
                  .launch(1)
                  .has(FaultKind::Uninitialized));
}

TEST(PtxFaults, PartialBarriersOrderTheirWarpsOnly) {
  // Warps 0 and 1 meet at barrier 1; warp 2 does not, and reads too.
  std::string body = "shr.u32 %r8, %tid, 5;\n setp.ne.s32 %p1, %r8, 0;\n"
                     "mov.u32 %r9, 0;\n"
                     "@!%p1 st.shared.u32 [buffer], 5;\n"
                     "setp.ge.u32 %p2, %r8, 2;\n"
                     "@%p2 bra $skip;\n"
                     "bar.sync 1, 64;\n"
                     "ld.shared.u32 %r9, [buffer];\n"
                     "$skip:\n";
  EXPECT_EQ(Snippet(body, 'r').forThreads(96), [] {
    std::vector<uint64_t> wanted(96, 5);
    std::fill(wanted.begin() + 64, wanted.end(), 0);
    return wanted;
  }());
  std::string late = "@!%p2 bra $end;\n ld.shared.u32 %r9, [buffer];\n$end:\n";
  expectFault(Snippet(body + late, 'r').launch(96), FaultKind::Race,
              {"thread (64,0,0)"});
}

//===----------------------------------------------------------------------===//
// Barriers and waiting
//===----------------------------------------------------------------------===//

TEST(PtxFaults, BarrierInDivergentCode) {
  Machine machine(loadModule("nvcc/control"));
  Address x = machine.allocate("x", 256);
  expectFault(
      machine.launch(Launch("divergent_barrier", {1}, {64}).argument(x)),
      FaultKind::Deadlock,
      {"bar.sync", "that 16 of 64 threads reach",
       "missing is thread (16,0,0) of block (0,0,0), which has exited"});
}

TEST(PtxFaults, LanesAtTwoBarriers) {
  std::string body = "setp.lt.u32 %p1, %tid, 16;\n mov.u64 %d9, 0;\n"
                     "@%p1 bra $low;\n bar.sync 0;\n bra $join;\n"
                     "$low:\n bar.sync 0;\n$join:\n";
  expectFault(Snippet(body, 'd').launch(32), FaultKind::Deadlock,
              {"lanes of this warp come to the barrier in line"});
}

TEST(PtxFaults, ShuffleThatLanesMiss) {
  std::string body = "setp.lt.u32 %p1, %tid, 16;\n mov.u32 %r9, 0;\n"
                     "@%p1 shfl.sync.idx.b32 %r9, %r0, 0, 31, 0xFFFFFFFF;\n"
                     "bar.sync 0;\n";
  expectFault(Snippet(body, 'r').launch(32), FaultKind::Deadlock,
              {"shfl.sync", "waits for lanes of its warp that never come"});
  // A mask that says who comes is right.
  EXPECT_TRUE(Snippet("setp.lt.u32 %p1, %tid, 16;\n mov.u32 %r9, 0;\n"
                      "@%p1 shfl.sync.idx.b32 %r9, %r0, 0, 31, 0xFFFF;\n",
                      'r')
                  .launch(32)
                  .ok());
  expectFault(
      Snippet("shfl.sync.idx.b32 %r9, %r0, 0, 31, 0xFFFF;\n", 'r').launch(32),
      FaultKind::Undefined, {"is not in the mask"});
}

TEST(PtxFaults, EndlessLoop) {
  ModuleOrError module =
      Module::parse(".visible .entry k()\n{\n$again:\n  bra $again;\n}\n");
  ASSERT_TRUE(module) << module.error;
  Machine machine(module.value);
  Launch launch("k", {1}, {1});
  launch.maxInstructions = 1000;
  expectFault(machine.launch(launch), FaultKind::StepLimit,
              {"k, line 4 'bra $again'", "1000 instructions"});
}

TEST(PtxFaults, TrapAndUndefinedFunctions) {
  expectFault(Snippet("trap;\n mov.u64 %d9, 0;", 'd').launch(1),
              FaultKind::Trap, {"line ", "'trap'", "stops the kernel"});
  ModuleOrError module = Module::parse(
      ".extern .func __assertfail(.param .b64 message);\n"
      ".visible .entry k()\n{\n .param .b64 m;\n st.param.b64 [m], 0;\n"
      " call.uni __assertfail, (m);\n}\n");
  ASSERT_TRUE(module) << module.error;
  expectFault(Machine(module.value).launch(Launch("k", {1}, {1})),
              FaultKind::Trap, {"calls '__assertfail'"});
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST(PtxFaults, LaunchesThatDoNotFit) {
  ModuleOrError module = Module::parse(
      ".visible .entry k(.param .u64 x) .maxntid 128, 1, 1\n{\n ret;\n}\n"
      ".visible .entry r() .reqntid 32\n{\n ret;\n}\n");
  ASSERT_TRUE(module) << module.error;
  Machine machine(module.value);
  auto describe = [&](const Launch &launch) {
    return machine.launch(launch).describe();
  };
  EXPECT_EQ(describe(Launch("absent", {1}, {1})),
            "absent: there is no such kernel\n");
  EXPECT_EQ(describe(Launch("k", {1}, {1})),
            "k: arguments of 0 bytes, but the parameters have 8\n");
  EXPECT_EQ(describe(Launch("k", {1}, {256}).argument(Address(0))),
            "k: blocks of 256 threads, more than the kernel's .maxntid\n");
  EXPECT_EQ(describe(Launch("k", {0}, {32}).argument(Address(0))),
            "k: the grid or the blocks are empty\n");
  EXPECT_EQ(describe(Launch("r", {1}, {64})),
            "r: blocks of another size than the kernel's .reqntid\n");
  EXPECT_EQ(describe(Launch("r", {1}, {32}).shared(1 << 20)),
            "r: 1048576 bytes of shared memory, more than 232448\n");
  EXPECT_EQ(describe(Launch("r", {1}, {32, 32, 2})),
            "r: blocks of 2048 threads, more than 1024\n");
  EXPECT_TRUE(machine.launch(Launch("r", {1}, {32})).ok());
}
