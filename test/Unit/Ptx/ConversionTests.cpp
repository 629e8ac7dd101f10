//===- ConversionTests.cpp - cvt, with every number of 16 bits
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFile.h"
#include "Snippet.h"

#include <cmath>
#include <limits>

using namespace pipewright::ptx;

namespace {
/// A 16-bit format, decoded by its definition.
struct Format {
  unsigned exponentBits, mantissaBits;

  unsigned infinity() const {
    return ((1u << exponentBits) - 1) << mantissaBits;
  }
  /// The largest exponent counts on, so that the number after the largest one
  /// is where it would be.
  double value(unsigned bits) const {
    int exponent = int(bits >> mantissaBits);
    double mantissa = bits & ((1u << mantissaBits) - 1);
    int bias = (1 << (exponentBits - 1)) - 1;
    double unit = std::ldexp(1.0, -int(mantissaBits));
    if (exponent == 0)
      return std::ldexp(mantissa * unit, 1 - bias);
    return std::ldexp(1 + mantissa * unit, exponent - bias);
  }
};

constexpr Format half{5, 10};
constexpr Format brain{8, 7};

/// A float and what each rounding makes of it.
struct Case {
  float input;
  unsigned nearest, zero, down, up;
};

/// Each number, and three in each interval between two: the tie and its
/// neighbours.
std::vector<Case> makeCases(Format format) {
  std::vector<Case> cases;
  unsigned sign = 0x8000;
  auto add = [&](double value, unsigned nearest, unsigned lower,
                 unsigned upper) {
    float v = static_cast<float>(value);
    cases.push_back({v, nearest, lower, lower, upper});
    cases.push_back(
        {-v, nearest | sign, lower | sign, upper | sign, lower | sign});
  };
  for (unsigned bits = 0; bits < format.infinity(); ++bits) {
    double low = format.value(bits), high = format.value(bits + 1);
    float tie = static_cast<float>((low + high) / 2);
    add(low, bits, bits, bits);
    add(tie, bits + (bits & 1), bits, bits + 1);
    add(std::nextafter(tie, 0.0f), bits, bits, bits + 1);
    add(std::nextafter(tie, std::numeric_limits<float>::infinity()), bits + 1,
        bits, bits + 1);
  }
  return cases;
}

std::vector<float> getInputs(const std::vector<Case> &cases) {
  std::vector<float> inputs;
  for (const Case &c : cases)
    inputs.push_back(c.input);
  return inputs;
}
} // namespace

class PtxHalves : public testing::TestWithParam<const char *> {
protected:
  std::shared_ptr<const Module> load() {
    return loadModule(std::string(GetParam()) + "/halves");
  }
  void widenAll(const char *kernel, Format format);
};

void PtxHalves::widenAll(const char *kernel, Format format) {
  Machine machine(load());
  std::vector<uint16_t> inputs(65536);
  for (unsigned i = 0; i < inputs.size(); ++i)
    inputs[i] = static_cast<uint16_t>(i);
  Address x = machine.upload("x", inputs);
  Address y = machine.allocate("y", inputs.size() * 4);
  LaunchResult result =
      machine.launch(Launch(kernel, {256}, {256}).argument(x).argument(y));
  ASSERT_TRUE(result.ok()) << result.describe();
  std::vector<float> outputs = machine.download<float>(y, inputs.size());
  for (unsigned i = 0; i < inputs.size(); ++i) {
    unsigned magnitude = i & 0x7FFF;
    if (magnitude > format.infinity()) {
      EXPECT_TRUE(std::isnan(outputs[i])) << i;
      continue;
    }
    double wanted = magnitude == format.infinity()
                        ? std::numeric_limits<double>::infinity()
                        : format.value(magnitude);
    EXPECT_EQ(outputs[i], i & 0x8000 ? -wanted : wanted) << i;
    EXPECT_EQ(std::signbit(outputs[i]), (i & 0x8000) != 0) << i;
  }
}

TEST_P(PtxHalves, WidenEveryHalf) { widenAll("from_f16", half); }
TEST_P(PtxHalves, WidenEveryBrainFloat) { widenAll("from_bf16", brain); }

TEST_P(PtxHalves, NarrowToHalfInEveryMode) {
  std::vector<Case> cases = makeCases(half);
  Machine machine(load());
  int n = static_cast<int>(cases.size());
  ASSERT_EQ(n % 64, 0);
  Address x = machine.upload("x", getInputs(cases));
  Address y = machine.allocate("y", cases.size() * 4 * 2);
  LaunchResult result =
      machine.launch(Launch("to_f16", {static_cast<uint32_t>(n / 64)}, {64})
                         .argument(x)
                         .argument(y)
                         .argument(n));
  ASSERT_TRUE(result.ok()) << result.describe();
  std::vector<uint16_t> outputs =
      machine.download<uint16_t>(y, cases.size() * 4);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(outputs[i], cases[i].nearest) << cases[i].input;
    EXPECT_EQ(outputs[n + i], cases[i].zero) << cases[i].input;
    EXPECT_EQ(outputs[2 * n + i], cases[i].down) << cases[i].input;
    EXPECT_EQ(outputs[3 * n + i], cases[i].up) << cases[i].input;
  }
}

TEST_P(PtxHalves, NarrowToBrainFloat) {
  std::vector<Case> cases = makeCases(brain);
  Machine machine(load());
  int n = static_cast<int>(cases.size());
  ASSERT_EQ(n % 64, 0);
  Address x = machine.upload("x", getInputs(cases));
  Address y = machine.allocate("y", cases.size() * 2 * 2);
  LaunchResult result =
      machine.launch(Launch("to_bf16", {static_cast<uint32_t>(n / 64)}, {64})
                         .argument(x)
                         .argument(y)
                         .argument(n));
  ASSERT_TRUE(result.ok()) << result.describe();
  std::vector<uint16_t> outputs =
      machine.download<uint16_t>(y, cases.size() * 2);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(outputs[i], cases[i].nearest) << cases[i].input;
    EXPECT_EQ(outputs[n + i], cases[i].zero) << cases[i].input;
  }
}

INSTANTIATE_TEST_SUITE_P(Ptx, PtxHalves, testing::Values("nvcc", "clang"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST(PtxConversions, PackTwo) {
  // The first source is the upper half.
  EXPECT_EQ(
      Snippet("cvt.rn.bf16x2.f32 %r9, %r0, %r1;", 'r')(bits(1.0f), bits(2.0f)),
      0x3F804000u);
  EXPECT_EQ(Snippet("cvt.rn.relu.f16x2.f32 %r9, %r0, %r1;", 'r')(bits(-1.0f),
                                                                 bits(2.0f)),
            0x00004000u);
  EXPECT_EQ(Snippet("cvt.rn.satfinite.e4m3x2.f32 %h9, %r0, %r1;",
                    'h')(bits(1.0f), bits(1000.0f)),
            0x387Eu);
  EXPECT_EQ(Snippet("cvt.rn.satfinite.relu.e4m3x2.f32 %h9, %r0, %r1;",
                    'h')(bits(-1.0f), bits(2.0f)),
            0x0040u);
  EXPECT_EQ(Snippet("cvt.rn.f16x2.e5m2x2 %r9, %h0;", 'r')(0x3C40), 0x3C004000u);
  EXPECT_EQ(Snippet("cvt.rna.tf32.f32 %r9, %r0;", 'r')(0x3F801000),
            0x3F802000u);
}

TEST(PtxConversions, BetweenIntegers) {
  EXPECT_EQ(Snippet("cvt.s64.s32 %d9, %r0;", 'd')(0x80000000),
            0xFFFFFFFF80000000u);
  EXPECT_EQ(Snippet("cvt.u64.u32 %d9, %r0;", 'd')(0x80000000), 0x80000000u);
  EXPECT_EQ(Snippet("cvt.s32.s8 %r9, %r0;", 'r')(0x1FF), 0xFFFFFFFFu);
  EXPECT_EQ(Snippet("cvt.u32.u8 %r9, %r0;", 'r')(0x1FF), 0xFFu);
  EXPECT_EQ(Snippet("cvt.sat.s8.s32 %r9, %r0;", 'r')(1000), 127u);
  EXPECT_EQ(Snippet("cvt.sat.u8.s32 %r9, %r0;", 'r')(0xFFFFFFFF), 0u);
  EXPECT_EQ(Snippet("cvt.u16.u32 %h9, %r0;", 'h')(0x12345), 0x2345u);
}

TEST(PtxConversions, FromIntegersToFloats) {
  Snippet nearest("cvt.rn.f32.s64 %r9, %d0;", 'r');
  Snippet zero("cvt.rz.f32.u64 %r9, %d0;", 'r');
  for (int64_t value : {int64_t(1) << 62, (int64_t(1) << 53) + 1,
                        (int64_t(1) << 40) + (1 << 16) + 1, int64_t(16777217),
                        int64_t(-16777219)})
    EXPECT_EQ(toFloat(nearest(value)), static_cast<float>(value)) << value;
  EXPECT_EQ(toFloat(zero(16777219)), 16777218.0f);
  EXPECT_EQ(toFloat(zero(~0ull)), 0x1.fffffep63f);
  EXPECT_EQ(toDouble(Snippet("cvt.rn.f64.s32 %d9, %r0;", 'd')(0xFFFFFFFF)),
            -1.0);
  EXPECT_EQ(Snippet("cvt.rn.bf16.s32 %h9, %r0;", 'h')(257), 0x4380u);
}

TEST(PtxConversions, FromFloatsToIntegers) {
  auto convert = [](const char *rounding, float value) {
    std::string text = std::string("cvt.") + rounding + ".s32.f32 %r9, %r0;";
    return static_cast<int32_t>(Snippet(text, 'r')(bits(value)));
  };
  EXPECT_EQ(convert("rni", 2.5f), 2);
  EXPECT_EQ(convert("rzi", -2.7f), -2);
  EXPECT_EQ(convert("rmi", -2.1f), -3);
  EXPECT_EQ(convert("rpi", 2.1f), 3);
  // Out of range clamps, NaN is 0 where no type is wide.
  EXPECT_EQ(convert("rzi", 1e20f), 2147483647);
  EXPECT_EQ(convert("rzi", -1e20f), -2147483647 - 1);
  EXPECT_EQ(convert("rzi", std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_EQ(Snippet("cvt.rzi.s64.f32 %d9, %r0;", 'd')(0x7FC00000), 1ull << 63);
  EXPECT_EQ(Snippet("cvt.rzi.u32.f64 %r9, %d0;", 'r')(0x7FFull << 52 | 1),
            1u << 31);
  EXPECT_EQ(Snippet("cvt.rzi.u32.f32 %r9, %r0;", 'r')(bits(-5.0f)), 0u);
  EXPECT_EQ(Snippet("cvt.rzi.u64.f64 %d9, %d0;", 'd')(bits(0x1p63)),
            1ull << 63);
}

TEST(PtxConversions, WithinFloats) {
  EXPECT_EQ(Snippet("cvt.rni.f32.f32 %r9, %r0;", 'r')(bits(3.5f)), bits(4.0f));
  EXPECT_EQ(Snippet("cvt.rmi.f32.f32 %r9, %r0;", 'r')(bits(-3.5f)),
            bits(-4.0f));
  EXPECT_EQ(Snippet("cvt.sat.f32.f32 %r9, %r0;", 'r')(bits(3.5f)), bits(1.0f));
  EXPECT_EQ(Snippet("cvt.f64.f32 %d9, %r0;", 'd')(bits(0.1f)),
            bits(double(0.1f)));
  EXPECT_EQ(Snippet("cvt.rz.f32.f64 %r9, %d0;", 'r')(bits(0.1)),
            bits(std::nextafter(0.1f, 0.0f)));
  EXPECT_EQ(Snippet("cvt.rn.f32.f64 %r9, %d0;", 'r')(bits(0.1)), bits(0.1f));
}
