//===- FloatArithmetic.cpp - Arithmetic on floats
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// add, sub, mul, fma, div, min, max, abs and neg: the table's entries, which
// leave integers to Integers.cpp.
//
//===----------------------------------------------------------------------===//

#include "Ptx/IntegerDecoders.h"
#include "Ptx/Lanes.h"

#include <cmath>
#include <limits>

using namespace pipewright::ptx;

namespace {
struct Add {
  static Inexact apply(const Instruction &, double a, double b, double) {
    return addExactly(a, b);
  }
};

struct Subtract {
  static Inexact apply(const Instruction &, double a, double b, double) {
    return addExactly(a, -b);
  }
};

struct Multiply {
  static Inexact apply(const Instruction &, double a, double b, double) {
    return multiplyExactly(a, b);
  }
};

struct FusedMultiplyAdd {
  static Inexact apply(const Instruction &, double a, double b, double c) {
    return multiplyAddExactly(a, b, c);
  }
};

struct Divide {
  static Inexact apply(const Instruction &, double a, double b, double) {
    return divideExactly(a, b);
  }
};

/// Of two zeros, the one with a sign is the smaller.
double minimum(const Instruction &instruction, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    if (instruction.propagateNan)
      return std::numeric_limits<double>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

struct Minimum {
  static Inexact apply(const Instruction &instruction, double a, double b,
                       double) {
    return {minimum(instruction, a, b)};
  }
};

struct Maximum {
  static Inexact apply(const Instruction &instruction, double a, double b,
                       double) {
    return {-minimum(instruction, -a, -b)};
  }
};

struct Absolute {
  static Inexact apply(const Instruction &, double a, double, double) {
    return {std::fabs(a)};
  }
};

struct Negate {
  static Inexact apply(const Instruction &, double a, double, double) {
    return {-a};
  }
};

/// The most frequent types, on the host's own arithmetic.
template <typename Op>
void onSingles(const Instruction &, const Word *s, Word *results) {
  float value =
      Op::apply(bitCast<float>(uint32_t(s[0])), bitCast<float>(uint32_t(s[1])),
                bitCast<float>(uint32_t(s[2])));
  results[0] = std::isnan(value) ? 0x7FFFFFFF : bitCast<uint32_t>(value);
}

struct SingleAdd {
  static float apply(float a, float b, float) { return a + b; }
};
struct SingleSubtract {
  static float apply(float a, float b, float) { return a - b; }
};
struct SingleMultiply {
  static float apply(float a, float b, float) { return a * b; }
};
struct SingleDivide {
  static float apply(float a, float b, float) { return a / b; }
};
struct SingleFma {
  static float apply(float a, float b, float c) { return std::fma(a, b, c); }
};
} // namespace

/// The types that arithmetic has; TF32 and the 8-bit ones only convert.
static bool isArithmetic(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2:
  case Type::F32:
  case Type::F64:
    return true;
  default:
    return false;
  }
}

/// The type of the instruction, without taking it.
static Type peekType(const Modifiers &modifiers) {
  Modifiers copy = modifiers;
  return copy.takeType();
}

static bool decodeFloat(Modifiers &modifiers, Instruction &instruction) {
  takeRounding(modifiers, instruction);
  instruction.ftz = modifiers.take("ftz");
  instruction.saturate = modifiers.take("sat");
  instruction.type = modifiers.takeType();
  return isArithmetic(instruction.type) &&
         instruction.rounding != Rounding::NearestAway;
}

static bool isPlainSingle(const Instruction &instruction) {
  return instruction.type == Type::F32 && !instruction.ftz &&
         !instruction.saturate && instruction.rounding == Rounding::NearestEven;
}

template <typename Op, typename SingleOp>
static bool decodeArithmetic(Modifiers &modifiers, Instruction &instruction) {
  if (!decodeFloat(modifiers, instruction))
    return false;
  instruction.compute =
      isPlainSingle(instruction) ? onSingles<SingleOp> : onFloats<Op>;
  return true;
}

static bool decodeAdd(Modifiers &modifiers, Instruction &instruction) {
  if (!isFloat(peekType(modifiers)))
    return decodeIntegerAdd(modifiers, instruction);
  return decodeArithmetic<Add, SingleAdd>(modifiers, instruction);
}

static bool decodeSubtract(Modifiers &modifiers, Instruction &instruction) {
  if (!isFloat(peekType(modifiers)))
    return decodeIntegerSubtract(modifiers, instruction);
  return decodeArithmetic<Subtract, SingleSubtract>(modifiers, instruction);
}

static bool decodeMultiply(Modifiers &modifiers, Instruction &instruction) {
  if (!isFloat(peekType(modifiers)))
    return decodeIntegerMultiply(modifiers, instruction);
  return decodeArithmetic<Multiply, SingleMultiply>(modifiers, instruction);
}

static bool decodeFma(Modifiers &modifiers, Instruction &instruction) {
  bool relu = modifiers.take("relu");
  if (!decodeArithmetic<FusedMultiplyAdd, SingleFma>(modifiers, instruction))
    return false;
  instruction.relu = relu;
  // The error of a fused operation on doubles is not known.
  if (instruction.type == Type::F64 &&
      instruction.rounding != Rounding::NearestEven)
    return false;
  return !relu || getBits(getElement(instruction.type)) == 16;
}

static bool decodeMultiplyAdd(Modifiers &modifiers, Instruction &instruction) {
  if (!isFloat(peekType(modifiers)))
    return decodeIntegerMultiplyAdd(modifiers, instruction);
  return decodeFma(modifiers, instruction);
}

static bool decodeDivide(Modifiers &modifiers, Instruction &instruction) {
  if (!isFloat(peekType(modifiers)))
    return decodeIntegerDivide(modifiers, instruction);
  // Both approximations are computed as the exact quotient.
  modifiers.takeOneOf({"approx", "full"});
  return decodeArithmetic<Divide, SingleDivide>(modifiers, instruction) &&
         getBits(instruction.type) >= 32 && !isPair(instruction.type);
}

template <typename Op>
static bool decodeExtremum(Modifiers &modifiers, Instruction &instruction) {
  instruction.ftz = modifiers.take("ftz");
  instruction.propagateNan = modifiers.take("NaN");
  instruction.type = modifiers.takeType();
  instruction.compute = onFloats<Op>;
  return isArithmetic(instruction.type);
}

static bool decodeMinimum(Modifiers &modifiers, Instruction &instruction) {
  if (!isFloat(peekType(modifiers)))
    return decodeIntegerMinimum(modifiers, instruction);
  return decodeExtremum<Minimum>(modifiers, instruction);
}

static bool decodeMaximum(Modifiers &modifiers, Instruction &instruction) {
  if (!isFloat(peekType(modifiers)))
    return decodeIntegerMaximum(modifiers, instruction);
  return decodeExtremum<Maximum>(modifiers, instruction);
}

static bool decodeAbsolute(Modifiers &modifiers, Instruction &instruction) {
  if (!isFloat(peekType(modifiers)))
    return decodeIntegerAbsolute(modifiers, instruction);
  return decodeExtremum<Absolute>(modifiers, instruction);
}

static bool decodeNegate(Modifiers &modifiers, Instruction &instruction) {
  if (!isFloat(peekType(modifiers)))
    return decodeIntegerNegate(modifiers, instruction);
  return decodeExtremum<Negate>(modifiers, instruction);
}

void pipewright::ptx::addFloatArithmetic(OpcodeTable &table) {
  table["add"] = {decodeAdd, "rss"};
  table["sub"] = {decodeSubtract, "rss"};
  table["mul"] = {decodeMultiply, "rss"};
  table["fma"] = {decodeFma, "rsss"};
  table["mad"] = {decodeMultiplyAdd, "rsss"};
  table["div"] = {decodeDivide, "rss"};
  table["min"] = {decodeMinimum, "rss"};
  table["max"] = {decodeMaximum, "rss"};
  table["abs"] = {decodeAbsolute, "rs"};
  table["neg"] = {decodeNegate, "rs"};
}
