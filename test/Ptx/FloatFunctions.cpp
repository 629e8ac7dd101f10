//===- FloatFunctions.cpp - Roots, exponentials and the like
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The .approx functions are computed in double, whose error of less than an
// ulp of double leaves at most 0.5 ulp of the result's type.
//
//===----------------------------------------------------------------------===//

#include "Ptx/Lanes.h"

#include <cmath>

using namespace pipewright::ptx;

namespace {
/// Functions whose results need no exact rounding.
template <double (*function)(double)>
struct Approximate {
  static Inexact apply(const Instruction &, double a, double, double) {
    return {function(a)};
  }
};

struct Reciprocal {
  static Inexact apply(const Instruction &, double a, double, double) {
    return divideExactly(1, a);
  }
};

struct SquareRoot {
  static Inexact apply(const Instruction &, double a, double, double) {
    return takeRootExactly(a);
  }
};

double reciprocalRoot(double a) { return 1 / std::sqrt(a); }

/// The first source's sign on the second's magnitude.
void copySign(const Instruction &instruction, const Word *s, Word *results) {
  Word sign = Word(1) << (getBits(instruction.type) - 1);
  results[0] = (s[0] & sign) | (s[1] & (sign - 1));
}

enum Property { Finite, Infinite, Number, NotANumber, Normal, Subnormal };

void testProperty(const Instruction &instruction, const Word *s,
                  Word *results) {
  double a = loadFloat(instruction.type, s[0]);
  double smallest = instruction.type == Type::F32 ? 0x1p-126 : 0x1p-1022;
  bool isSubnormal = a != 0 && std::fabs(a) < smallest;
  switch (instruction.variant) {
  case Finite:
    results[0] = std::isfinite(a);
    return;
  case Infinite:
    results[0] = std::isinf(a);
    return;
  case Number:
    results[0] = !std::isnan(a);
    return;
  case NotANumber:
    results[0] = std::isnan(a);
    return;
  case Normal:
    results[0] = std::isfinite(a) && !isSubnormal; // Zero is normal.
    return;
  case Subnormal:
    results[0] = isSubnormal;
    return;
  }
}
} // namespace

/// `.approx` or a rounding.
template <typename Op>
static bool decodeRoot(Modifiers &modifiers, Instruction &instruction) {
  bool isApproximate = modifiers.take("approx");
  if (isApproximate == takeRounding(modifiers, instruction))
    return false;
  instruction.ftz = modifiers.take("ftz");
  instruction.type = modifiers.takeType();
  instruction.compute = onFloats<Op>;
  return instruction.type == Type::F32 || instruction.type == Type::F64;
}

template <typename Op>
static bool decodeApproximate(Modifiers &modifiers, Instruction &instruction) {
  if (!modifiers.take("approx"))
    return false;
  instruction.ftz = modifiers.take("ftz");
  instruction.type = modifiers.takeType();
  instruction.compute = onFloats<Op>;
  return isFloat(instruction.type);
}

/// lg2, sin, cos and rsqrt, which have no 16-bit forms.
template <typename Op>
static bool decodeWideOnly(Modifiers &modifiers, Instruction &instruction) {
  return decodeApproximate<Op>(modifiers, instruction) &&
         (instruction.type == Type::F32 || instruction.type == Type::F64);
}

static bool decodeCopySign(Modifiers &modifiers, Instruction &instruction) {
  instruction.type = modifiers.takeType();
  instruction.compute = copySign;
  return instruction.type == Type::F32 || instruction.type == Type::F64;
}

static bool decodeTest(Modifiers &modifiers, Instruction &instruction) {
  int property = modifiers.takeOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  instruction.variant = static_cast<uint8_t>(property);
  instruction.type = modifiers.takeType();
  instruction.compute = testProperty;
  return property >= 0 &&
         (instruction.type == Type::F32 || instruction.type == Type::F64);
}

void pipewright::ptx::addFloatFunctions(OpcodeTable &table) {
  table["rcp"] = {decodeRoot<Reciprocal>, "rs"};
  table["sqrt"] = {decodeRoot<SquareRoot>, "rs"};
  table["rsqrt"] = {decodeWideOnly<Approximate<reciprocalRoot>>, "rs"};
  table["sin"] = {decodeWideOnly<Approximate<std::sin>>, "rs"};
  table["cos"] = {decodeWideOnly<Approximate<std::cos>>, "rs"};
  table["lg2"] = {decodeWideOnly<Approximate<std::log2>>, "rs"};
  table["ex2"] = {decodeApproximate<Approximate<std::exp2>>, "rs"};
  table["tanh"] = {decodeApproximate<Approximate<std::tanh>>, "rs"};
  table["copysign"] = {decodeCopySign, "rss"};
  table["testp"] = {decodeTest, "rs"};
}
