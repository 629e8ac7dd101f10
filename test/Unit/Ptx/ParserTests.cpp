//===- ParserTests.cpp - Text that is PTX, and text that is not
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

using namespace pipewright::ptx;

namespace {
std::string getError(const std::string &text) {
  return Module::parse(text).error;
}

/// The error of one line in a kernel: it is line 4.
std::string getErrorOf(const std::string &line) {
  return getError(".visible .entry k()\n{\n.reg .b32 %r<3>;\n" + line +
                  "\n}\n");
}
} // namespace

TEST(PtxParser, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(getErrorOf("wgmma.fence.sync.aligned;"),
            "line 4: unknown opcode 'wgmma.fence.sync.aligned'");
  EXPECT_EQ(getErrorOf("add.rd.f32 %r0, %r1, %r2;"),
            "line 4: 'add.rd.f32' is not supported, because of '.rd'");
  EXPECT_EQ(getErrorOf("add %r0, %r1, %r2;"), "line 4: 'add' is not supported");
  EXPECT_EQ(getErrorOf("cvt.f16.f32 %r0, %r1;"),
            "line 4: 'cvt.f16.f32' is not supported");
  EXPECT_EQ(getErrorOf("setp.ltu.s32 %r0, %r1, %r2;"),
            "line 4: 'setp.ltu.s32' is not supported");
  EXPECT_EQ(getErrorOf("add.s32 %r0, %r1, %r7;"), "line 4: unknown name '%r7'");
  EXPECT_EQ(getErrorOf("add.s32 %r0, %r1;"), "line 4: expected ',' before ';'");
  EXPECT_EQ(getErrorOf("add.s32 {%r0, %r1}, %r1, %r2;"),
            "line 4: wrong number of operands");
  EXPECT_EQ(getErrorOf("add.s32 5, %r1, %r2;"),
            "line 4: a number is no result");
  EXPECT_EQ(getErrorOf("@%r1 bra $L;"), "line 4: '%r1' is no predicate");
  EXPECT_EQ(getErrorOf("bra $L;"), "line 4: unknown label '$L'");
  EXPECT_EQ(getErrorOf("call.uni f, ();"),
            "line 4: 'f' is no function; indirect calls are not supported");
  EXPECT_EQ(getErrorOf("ld.global.v4.f32 %r0, [%r1];"),
            "line 4: wrong number of operands");
}

TEST(PtxParser, RefusesModulesThatAreNone) {
  EXPECT_EQ(getError("define void @f() {}"),
            "line 1: unknown directive 'define'");
  EXPECT_EQ(getError(".visible .entry k(\n.param .u64 x)\n{\n"),
            "line 4: a function has no end");
  EXPECT_EQ(getError(".extern .global .b32 x;"),
            "line 1: 'x' is of another module");
  EXPECT_EQ(getError(".global .attribute(.managed) .b32 x;"),
            "line 1: unknown attribute '.attribute'");
  EXPECT_EQ(getError(".global .b8 x[2] = {1, 2, 3};"),
            "line 1: more initial values than 'x' has elements");
  EXPECT_EQ(getError(".func f();\n.func f()\n{\n call.uni f;\n}\n"),
            "line 4: function 'f' can call itself, which is not supported");
}

TEST(PtxParser, RefusesNumbersThatAreNone) {
  EXPECT_EQ(getErrorOf("mov.b32 %r0, 1.5x;"), "line 4: '1.5x' is no number");
  EXPECT_EQ(getErrorOf("mov.b32 %r0, 0f3F80000G;"),
            "line 4: '0f3F80000G' is no number");
  EXPECT_EQ(getErrorOf("mov.b32 %r0, 12z;"), "line 4: '12z' is no number");
  EXPECT_EQ(getErrorOf("add.f16 %r0, %r1, 1.5;"),
            "line 4: a float is no operand of this type");
  EXPECT_EQ(getErrorOf(".reg .b32 %x<10000000>;"),
            "line 4: 10000000 registers");
  EXPECT_EQ(getError(".shared .b64 x[1000000000];"),
            "line 1: 'x' is too large");
  EXPECT_EQ(getError(".pragma nounroll;"),
            "line 1: expected a string before 'nounroll'");
}

TEST(PtxParser, TellsWhatAKernelNeeds) {
  ModuleOrError module = Module::parse(R"(
.version 8.0
.target sm_90, debug
.address_size 64
.shared .align 4 .b8 all[64];
.visible .entry k(
  .param .u8 flag,
  .param .u64 .ptr .global .align 16 x,
  .param .align 8 .b8 pair[16],
  .param .f32 y
)
.maxntid 256, 1, 1
.minnctapersm 2
{
  .shared .align 16 .b8 own[100];
  ret;
}
.visible .entry other() { ret; }
)");
  ASSERT_TRUE(module) << module.error;
  EXPECT_EQ(module.value->getKernels(),
            (std::vector<std::string>{"k", "other"}));
  const KernelInfo *kernel = module.value->getKernel("k");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->parameterBytes, 36);
  EXPECT_EQ(kernel->sharedBytes, 164);
  EXPECT_EQ(kernel->maxThreads[0], 256);
  ASSERT_EQ(kernel->parameters.size(), 4u);
  // The alignment of a pointer's buffer is not that of the pointer.
  EXPECT_EQ(kernel->parameters[1].offset, 8);
  EXPECT_EQ(kernel->parameters[2].offset, 16);
  EXPECT_EQ(kernel->parameters[2].bytes, 16);
  EXPECT_EQ(kernel->parameters[3].name, "y");
  EXPECT_EQ(module.value->getKernel("other")->sharedBytes, 64);
  EXPECT_EQ(module.value->getKernel("all"), nullptr);
}

TEST(PtxParser, ReadsVariablesAndTheirValues) {
  ModuleOrError module = Module::parse(R"(
.visible .global .align 4 .u32 counts[4] = {1, 0x10, 3};
.const .align 4 .f32 factor = 0f40400000;
.global .align 8 .f64 half = 0.5;
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [out];
  ld.global.u32 %r0, [counts+4];
  st.global.u32 [%d0], %r0;
  ld.const.f32 %r1, [factor];
  st.global.f32 [%d0+4], %r1;
  mov.u64 %d1, half;
  ld.f64 %d2, [%d1];
  st.global.f64 [%d0+8], %d2;
  ld.global.u32 %r2, [counts+12];
  st.global.u32 [%d0+16], %r2;
  mov.u32 %r3, 8;
  st.global.u32 [counts], %r3;
}
)");
  ASSERT_TRUE(module) << module.error;
  Machine machine(module.value);
  Address out = machine.allocate("out", 24);
  LaunchResult result = machine.launch(Launch("k", {1}, {1}).argument(out));
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_EQ(machine.download<uint32_t>(out, 1)[0], 16u);
  EXPECT_EQ(machine.download<float>(out + 4, 1)[0], 3.0f);
  EXPECT_EQ(machine.download<double>(out + 8, 1)[0], 0.5);
  EXPECT_EQ(machine.download<uint32_t>(out + 16, 1)[0], 0u);
  EXPECT_EQ(machine.download<uint32_t>(machine.getVariable("counts"), 1)[0],
            8u);
}

TEST(PtxParser, KeepsNamesToTheirScopes) {
  // As inline assembly makes them: one name, declared twice.
  EXPECT_EQ(Snippet("{\n .reg .b32 t;\n add.s32 t, %r0, 1;\n"
                    " bra $L;\n trap;\n$L:\n mov.u32 %r8, t;\n}\n"
                    "{\n .reg .b32 t;\n add.s32 t, %r8, 10;\n"
                    " bra $L;\n trap;\n$L:\n mov.u32 %r9, t;\n}",
                    'r')(1),
            12u);
}

TEST(PtxParser, SkipsDebugInformation) {
  ModuleOrError module = Module::parse(R"(
.file 1 "/src/kernel.cu"
.visible .entry k()
{
  .loc 1 3 5
  // A comment; /* not the start of another
  /* ret; */
  .loc 1 4 1, function_name $L__info_string0, inlined_at 1 3 5
  .pragma "nounroll";
  ret;
}
.section .debug_str
{
  .b8 1, 2
  .b32 .debug_info+4
}
)");
  EXPECT_TRUE(module) << module.error;
}
