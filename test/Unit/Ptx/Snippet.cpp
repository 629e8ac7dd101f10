//===- Snippet.cpp - A few instructions as a kernel
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

using namespace pipewright::ptx;

static constexpr const char *prologue = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry snippet(.param .u64 inputs, .param .u64 outputs)
{
  .reg .pred %p<31>;
  .reg .b16 %h<31>;
  .reg .b32 %r<31>;
  .reg .b64 %d<31>;
  .reg .b32 %tid;
  .reg .b64 %in, %out;
  .shared .align 16 .b8 buffer[1024];
  mov.u32 %tid, %tid.x;
  ld.param.u64 %in, [inputs];
  ld.param.u64 %out, [outputs];
  mad.wide.u32 %in, %tid, 32, %in;
  mad.wide.u32 %out, %tid, 8, %out;
  ld.global.v2.u64 {%d0, %d1}, [%in];
  ld.global.v2.u64 {%d2, %d3}, [%in+16];
)";

/// The instruction that widens the result.
static const char *getEpilogue(char result) {
  switch (result) {
  case 'p':
    return "selp.b64 %d9, 1, 0, %p9;";
  case 'h':
    return "cvt.u64.u16 %d9, %h9;";
  case 'r':
    return "cvt.u64.u32 %d9, %r9;";
  default:
    return "";
  }
}

std::string Snippet::getText() const {
  std::string text = prologue;
  for (char i : {'0', '1', '2', '3'}) {
    text += std::string("  cvt.u32.u64 %r") + i + ", %d" + i + ";\n";
    text += std::string("  cvt.u16.u64 %h") + i + ", %d" + i + ";\n";
  }
  return text + body + "\n" + getEpilogue(result) +
         "\n  st.global.u64 [%out], %d9;\n  ret;\n}\n";
}

LaunchResult Snippet::run(const std::vector<uint64_t> &inputs,
                          std::vector<uint64_t> &results) const {
  ModuleOrError module = Module::parse(getText());
  EXPECT_TRUE(module) << module.error << "\n" << getText();
  if (!module)
    return LaunchResult();
  Machine machine(module.value);
  unsigned threads = static_cast<unsigned>(inputs.size() / 4);
  Address in = machine.upload("inputs", inputs);
  Address out = machine.allocate("outputs", threads * sizeof(uint64_t));
  LaunchResult launched = machine.launch(
      Launch("snippet", {1}, {threads}).argument(in).argument(out));
  results = machine.download<uint64_t>(out, threads);
  return launched;
}

uint64_t Snippet::operator()(uint64_t a, uint64_t b, uint64_t c,
                             uint64_t d) const {
  std::vector<uint64_t> results(1);
  LaunchResult launched = run({a, b, c, d}, results);
  EXPECT_TRUE(launched.ok()) << launched.describe();
  return results[0];
}

static std::vector<uint64_t> numberThreads(unsigned threads) {
  std::vector<uint64_t> inputs;
  for (unsigned i = 0; i < threads; ++i)
    inputs.insert(inputs.end(), 4, i);
  return inputs;
}

std::vector<uint64_t> Snippet::forThreads(unsigned threads) const {
  std::vector<uint64_t> results(threads);
  LaunchResult launched = run(numberThreads(threads), results);
  EXPECT_TRUE(launched.ok()) << launched.describe();
  return results;
}

LaunchResult Snippet::launch(unsigned threads) const {
  std::vector<uint64_t> results;
  return run(numberThreads(threads), results);
}
