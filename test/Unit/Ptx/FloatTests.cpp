//===- FloatTests.cpp - Arithmetic on floats
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values are those of the host in a wider format, or exact by
// construction.
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

using namespace pipewright::ptx;

namespace {
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quietNan = std::numeric_limits<float>::quiet_NaN();

/// Runs an instruction on floats in registers 0 to 2.
float evaluate(const char *instruction, float a, float b = 0, float c = 0) {
  return toFloat(Snippet(instruction, 'r')(bits(a), bits(b), bits(c)));
}

/// The host's result in a rounding mode.
template <typename Function>
float withRounding(int mode, Function function) {
  std::fesetround(mode);
  volatile float result = function();
  std::fesetround(FE_TONEAREST);
  return result;
}
} // namespace

TEST(PtxFloats, RoundInEveryMode) {
  struct Mode {
    const char *name;
    int host;
  };
  constexpr Mode modes[] = {{"rn", FE_TONEAREST},
                            {"rz", FE_TOWARDZERO},
                            {"rm", FE_DOWNWARD},
                            {"rp", FE_UPWARD}};
  std::mt19937 random(3);
  std::uniform_real_distribution<float> exponent(-30, 30);
  for (const Mode &mode : modes) {
    auto opcode = [&](const char *name, const char *operands) {
      return std::string(name) + "." + mode.name + ".f32 %r9, " + operands;
    };
    Snippet add(opcode("add", "%r0, %r1;"), 'r');
    Snippet multiply(opcode("mul", "%r0, %r1;"), 'r');
    Snippet divide(opcode("div", "%r0, %r1;"), 'r');
    Snippet root(opcode("sqrt", "%r0;"), 'r');
    Snippet fma(opcode("fma", "%r0, %r1, %r2;"), 'r');
    for (int i = 0; i < 40; ++i) {
      volatile float a = std::exp2(exponent(random));
      volatile float b = -std::exp2(exponent(random)) / 3;
      volatile float c = std::exp2(exponent(random)) / 7;
      EXPECT_EQ(toFloat(add(bits(float(a)), bits(float(b)))),
                withRounding(mode.host, [&] { return a + b; }));
      EXPECT_EQ(toFloat(multiply(bits(float(a)), bits(float(b)))),
                withRounding(mode.host, [&] { return a * b; }));
      EXPECT_EQ(toFloat(divide(bits(float(a)), bits(float(b)))),
                withRounding(mode.host, [&] { return a / b; }));
      EXPECT_EQ(toFloat(root(bits(float(a)))),
                withRounding(mode.host, [&] { return std::sqrt(float(a)); }));
      EXPECT_EQ(toFloat(fma(bits(float(a)), bits(float(b)), bits(float(c)))),
                withRounding(mode.host, [&] { return std::fma(a, b, c); }));
    }
  }
}

TEST(PtxFloats, FlushSubnormalNumbersOnlyIfAsked) {
  float tiny = 0x1p-140f;
  EXPECT_EQ(evaluate("add.f32 %r9, %r0, %r1;", tiny, tiny), 2 * tiny);
  EXPECT_EQ(evaluate("add.ftz.f32 %r9, %r0, %r1;", tiny, tiny), 0.0f);
  EXPECT_EQ(evaluate("mul.ftz.f32 %r9, %r0, %r1;", 0x1p-100f, 0x1p-30f), 0.0f);
  EXPECT_TRUE(std::signbit(
      evaluate("mul.ftz.f32 %r9, %r0, %r1;", -0x1p-100f, 0x1p-30f)));
  EXPECT_EQ(evaluate("mul.f32 %r9, %r0, %r1;", 0x1p-100f, 0x1p-30f), 0x1p-130f);
}

TEST(PtxFloats, Saturate) {
  EXPECT_EQ(evaluate("add.sat.f32 %r9, %r0, %r1;", 3, 4), 1.0f);
  EXPECT_EQ(evaluate("add.sat.f32 %r9, %r0, %r1;", 3, -4), 0.0f);
  EXPECT_EQ(evaluate("add.sat.f32 %r9, %r0, %r1;", quietNan, 1), 0.0f);
}

TEST(PtxFloats, GiveTheCanonicalNan) {
  Snippet add("add.f32 %r9, %r0, %r1;", 'r');
  EXPECT_EQ(add(bits(infinity), bits(-infinity)), 0x7FFFFFFFu);
  EXPECT_EQ(add(0xFFC01234, bits(1.0f)), 0x7FFFFFFFu);
  EXPECT_EQ(Snippet("add.f16 %h9, %h0, %h1;", 'h')(0x7C00, 0xFC00), 0x7FFFu);
}

TEST(PtxFloats, TakeMinimaPastNan) {
  EXPECT_EQ(evaluate("min.f32 %r9, %r0, %r1;", quietNan, 2), 2.0f);
  EXPECT_EQ(evaluate("max.f32 %r9, %r0, %r1;", 2, quietNan), 2.0f);
  EXPECT_TRUE(std::isnan(evaluate("max.NaN.f32 %r9, %r0, %r1;", 2, quietNan)));
  EXPECT_TRUE(std::signbit(evaluate("min.f32 %r9, %r0, %r1;", 0.0f, -0.0f)));
  EXPECT_FALSE(std::signbit(evaluate("max.f32 %r9, %r0, %r1;", -0.0f, 0.0f)));
}

TEST(PtxFloats, CompareWithNan) {
  auto compare = [](const char *comparison, float a, float b) {
    std::string text =
        std::string("setp.") + comparison + ".f32 %p9, %r0, %r1;";
    return Snippet(text, 'p')(bits(a), bits(b)) != 0;
  };
  EXPECT_TRUE(compare("lt", 1, 2));
  EXPECT_FALSE(compare("lt", 1, quietNan));
  EXPECT_FALSE(compare("ne", 1, quietNan));
  EXPECT_TRUE(compare("ltu", 1, quietNan));
  EXPECT_TRUE(compare("neu", quietNan, quietNan));
  EXPECT_FALSE(compare("equ", 1, 2));
  EXPECT_TRUE(compare("num", 1, 2));
  EXPECT_FALSE(compare("num", 1, quietNan));
  EXPECT_TRUE(compare("nan", quietNan, 2));
}

TEST(PtxFloats, ApproximateWithinHalfAnUlp) {
  struct Function {
    const char *instruction;
    double (*reference)(double);
  };
  constexpr Function functions[] = {
      {"ex2.approx.f32 %r9, %r0;", [](double x) { return std::exp2(x); }},
      {"lg2.approx.f32 %r9, %r0;", [](double x) { return std::log2(x); }},
      {"sin.approx.f32 %r9, %r0;", [](double x) { return std::sin(x); }},
      {"cos.approx.f32 %r9, %r0;", [](double x) { return std::cos(x); }},
      {"tanh.approx.f32 %r9, %r0;", [](double x) { return std::tanh(x); }},
      {"rcp.approx.f32 %r9, %r0;", [](double x) { return 1 / x; }},
      {"sqrt.approx.f32 %r9, %r0;", [](double x) { return std::sqrt(x); }},
      {"rsqrt.approx.f32 %r9, %r0;", [](double x) { return 1 / std::sqrt(x); }},
  };
  for (const Function &function : functions) {
    Snippet snippet(function.instruction, 'r');
    for (float x : {0.1f, 0.7f, 1.3f, 3.9f, 11.0f}) {
      double wanted = function.reference(x);
      double ulp = std::nextafter(std::fabs(float(wanted)), infinity) -
                   std::fabs(float(wanted));
      EXPECT_NEAR(toFloat(snippet(bits(x))), wanted, 0.5001 * ulp)
          << function.instruction << " of " << x;
    }
  }
  EXPECT_EQ(evaluate("ex2.approx.ftz.f32 %r9, %r0;", -130), 0.0f);
  EXPECT_EQ(evaluate("rcp.approx.f32 %r9, %r0;", 0), infinity);
  EXPECT_EQ(evaluate("lg2.approx.f32 %r9, %r0;", 0), -infinity);
}

TEST(PtxFloats, HaveDoubles) {
  Snippet fma("fma.rn.f64 %d9, %d0, %d1, %d2;", 'd');
  EXPECT_EQ(toDouble(fma(bits(0.1), bits(10.0), bits(-1.0))),
            std::fma(0.1, 10.0, -1.0));
  EXPECT_EQ(toDouble(Snippet("sqrt.rn.f64 %d9, %d0;", 'd')(bits(2.0))),
            std::sqrt(2.0));
  EXPECT_EQ(toDouble(Snippet("copysign.f64 %d9, %d0, %d1;", 'd')(bits(-1.0),
                                                                 bits(3.0))),
            -3.0);
  EXPECT_EQ(Snippet("testp.infinite.f32 %p9, %r0;", 'p')(bits(infinity)), 1u);
  EXPECT_EQ(Snippet("testp.normal.f32 %p9, %r0;", 'p')(0), 1u);
  EXPECT_EQ(Snippet("testp.normal.f64 %p9, %d0;", 'p')(1), 0u);
  EXPECT_EQ(Snippet("testp.subnormal.f32 %p9, %r0;", 'p')(1), 1u);
}

TEST(PtxFloats, RoundHalvesOnce) {
  // 1 + 2^-11 lies between two numbers of 11 bits.
  Snippet fma("fma.rn.f16 %h9, %h0, %h1, %h2;", 'h');
  uint64_t one = 0x3C00, tie = 0x1000 /* 2^-11 */;
  EXPECT_EQ(fma(tie, one, one), 0x3C00u);
  Snippet twice("add.f16 %h9, %h0, %h1;", 'h');
  EXPECT_EQ(twice(one, tie), 0x3C00u);
  // (1 + 2^-10) * (1 - 2^-11) is 2^-21 below the tie: of the third factor's
  // units of 2^-24, eight lead to the tie and nine beyond.
  EXPECT_EQ(fma(0x3C01, 0x3BFF, 8), 0x3C00u);
  EXPECT_EQ(fma(0x3C01, 0x3BFF, 9), 0x3C01u);
  // Both halves of a pair, with different results.
  Snippet pair("fma.rn.bf16x2 %r9, %r0, %r1, %r2;", 'r');
  EXPECT_EQ(pair(0x40003F80, 0x40403F80, 0x3F803F80), 0x40E04000u);
  EXPECT_EQ(
      Snippet("fma.rn.relu.f16 %h9, %h0, %h1, %h2;", 'h')(0xC000, one, one),
      0u);
}
