//===- Integers.cpp - Integer arithmetic
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// add, sub, mul, mad and the others on integers. FloatArithmetic.cpp takes
// those of the same name on floats: the decoders there call these.
//
//===----------------------------------------------------------------------===//

#include "Ptx/IntegerDecoders.h"
#include "Ptx/Lanes.h"

#include <algorithm>
#include <limits>

using namespace pipewright::ptx;

namespace {
template <typename T>
using Unsigned = std::make_unsigned_t<T>;

/// The sum or difference, clamped where the instruction says .sat.
template <typename T>
T clampToInt32(const Instruction &instruction, T wrapped, int64_t exact) {
  if (!instruction.saturate)
    return wrapped;
  return static_cast<T>(
      std::clamp<int64_t>(exact, std::numeric_limits<int32_t>::min(),
                          std::numeric_limits<int32_t>::max()));
}

struct Add {
  template <typename T>
  static T apply(const Instruction &instruction, T a, T b, T) {
    T sum = static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
    return clampToInt32(instruction, sum,
                        static_cast<int64_t>(uint64_t(a) + uint64_t(b)));
  }
};

struct Subtract {
  template <typename T>
  static T apply(const Instruction &instruction, T a, T b, T) {
    T difference = static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
    return clampToInt32(instruction, difference,
                        static_cast<int64_t>(uint64_t(a) - uint64_t(b)));
  }
};

/// A type that holds all products of two T.
template <typename T>
using Product =
    std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

template <typename T>
T multiplyLowOrHigh(const Instruction &instruction, T a, T b) {
  Product<T> product = Product<T>(a) * Product<T>(b);
  if (instruction.part == Part::High)
    product >>= sizeof(T) * 8;
  return static_cast<T>(product);
}

struct Multiply {
  template <typename T>
  static T apply(const Instruction &instruction, T a, T b, T) {
    return multiplyLowOrHigh(instruction, a, b);
  }
};

struct MultiplyAdd {
  template <typename T>
  static T apply(const Instruction &instruction, T a, T b, T c) {
    T product = multiplyLowOrHigh(instruction, a, b);
    return static_cast<T>(Unsigned<T>(product) + Unsigned<T>(c));
  }
};

/// The 24 low bits of 32, in the way of the type.
template <typename T>
T low24(T value) {
  return std::is_signed_v<T> ? static_cast<T>(signExtend(Word(value), 24))
                             : static_cast<T>(value & 0xFFFFFF);
}

/// mul24 and mad24: the low or the high 32 of the product's 48 bits.
struct Multiply24Add {
  template <typename T>
  static T apply(const Instruction &instruction, T a, T b, T c) {
    int64_t product = int64_t(low24(a)) * int64_t(low24(b));
    if (instruction.part == Part::High)
      product >>= 16;
    return static_cast<T>(Word(product) + Word(c));
  }
};

/// Division by zero gives all ones, as the GPUs do; PTX leaves it open.
struct Divide {
  template <typename T>
  static T apply(const Instruction &, T a, T b, T) {
    if (b == 0)
      return static_cast<T>(~T(0));
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return static_cast<T>(0 - Unsigned<T>(a));
    return a / b;
  }
};

struct Remainder {
  template <typename T>
  static T apply(const Instruction &, T a, T b, T) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return 0;
    return a % b;
  }
};

struct Minimum {
  template <typename T>
  static T apply(const Instruction &, T a, T b, T) {
    return std::min(a, b);
  }
};

struct Maximum {
  template <typename T>
  static T apply(const Instruction &, T a, T b, T) {
    return std::max(a, b);
  }
};

struct Absolute {
  template <typename T>
  static T apply(const Instruction &, T a, T, T) {
    return a < 0 ? static_cast<T>(0 - Unsigned<T>(a)) : a;
  }
};

struct Negate {
  template <typename T>
  static T apply(const Instruction &, T a, T, T) {
    return static_cast<T>(0 - Unsigned<T>(a));
  }
};

/// c + |a - b|
struct AbsoluteDifference {
  template <typename T>
  static T apply(const Instruction &, T a, T b, T c) {
    Unsigned<T> distance = a < b ? Unsigned<T>(b) - Unsigned<T>(a)
                                 : Unsigned<T>(a) - Unsigned<T>(b);
    return static_cast<T>(Unsigned<T>(c) + distance);
  }
};

/// a if c >= 0, else b.
void selectBySign(const Instruction &instruction, const Word *s,
                  Word *results) {
  bool positive = isFloat(instruction.sourceType)
                      ? loadFloat(Type::F32, s[2]) >= 0
                      : signExtend(s[2], 32) >= 0;
  results[0] = positive ? s[0] : s[1];
}

/// mul.wide and mad.wide: the result is twice as wide as the factors.
void multiplyWide(const Instruction &instruction, const Word *s,
                  Word *results) {
  unsigned bits = getBits(instruction.type);
  Word product =
      isSigned(instruction.type)
          ? Word(signExtend(s[0], bits)) * Word(signExtend(s[1], bits))
          : (s[0] & maskOfBits(bits)) * (s[1] & maskOfBits(bits));
  results[0] = product + s[2];
}

/// a + b + carry, and the carry out of it.
void addWithCarry(Type type, Word a, Word b, Word carry, Word *results) {
  Word mask = maskOfBits(getBits(type));
  unsigned __int128 sum = a & mask;
  sum += b & mask;
  sum += carry;
  results[0] = static_cast<Word>(sum) & mask;
  results[1] = static_cast<Word>(sum >> getBits(type)) & 1;
}

void addCarry(const Instruction &instruction, const Word *s, Word *results) {
  addWithCarry(instruction.type, s[0], s[1], s[2], results);
}

/// The carry of a subtraction is the borrow.
void subtractBorrow(const Instruction &instruction, const Word *s,
                    Word *results) {
  addWithCarry(instruction.type, s[0], ~s[1], 1 - s[2], results);
  results[1] ^= 1;
}

void multiplyAddCarry(const Instruction &instruction, const Word *s,
                      Word *results) {
  Word sources[3] = {s[0], s[1], 0};
  forIntegers<Multiply>(instruction.type)(instruction, sources, results);
  addWithCarry(instruction.type, results[0], s[2], s[3], results);
}
} // namespace

static bool takeIntegerType(Modifiers &modifiers, Instruction &instruction) {
  instruction.type = modifiers.takeType();
  return isInteger(instruction.type) || isBits(instruction.type);
}

template <typename Op>
static bool decode(Modifiers &modifiers, Instruction &instruction) {
  if (!takeIntegerType(modifiers, instruction))
    return false;
  if (instruction.type == Type::S32)
    instruction.saturate = modifiers.take("sat");
  instruction.compute = forIntegers<Op>(instruction.type);
  return instruction.compute != nullptr;
}

/// add.cc, addc, sub.cc, subc, mad.cc, madc: the carry is a source or result
/// of its own.
static bool decodeCarry(Modifiers &modifiers, Instruction &instruction,
                        LaneFunction compute) {
  modifiers.carryIn = true;
  modifiers.carryOut = modifiers.take("cc");
  instruction.compute = compute;
  return takeIntegerType(modifiers, instruction);
}

static bool decodeAddCarry(Modifiers &modifiers, Instruction &instruction) {
  return decodeCarry(modifiers, instruction, addCarry);
}

static bool decodeSubtractBorrow(Modifiers &modifiers,
                                 Instruction &instruction) {
  return decodeCarry(modifiers, instruction, subtractBorrow);
}

bool pipewright::ptx::decodeIntegerAdd(Modifiers &modifiers,
                                       Instruction &instruction) {
  if (!modifiers.take("cc"))
    return decode<Add>(modifiers, instruction);
  instruction.compute = addCarry;
  modifiers.carryOut = true;
  return takeIntegerType(modifiers, instruction);
}

bool pipewright::ptx::decodeIntegerSubtract(Modifiers &modifiers,
                                            Instruction &instruction) {
  if (!modifiers.take("cc"))
    return decode<Subtract>(modifiers, instruction);
  instruction.compute = subtractBorrow;
  modifiers.carryOut = true;
  return takeIntegerType(modifiers, instruction);
}

static bool takePart(Modifiers &modifiers, Instruction &instruction) {
  static constexpr Part parts[] = {Part::Low, Part::High, Part::Wide};
  int which = modifiers.takeOneOf({"lo", "hi", "wide"});
  if (which < 0)
    return false;
  instruction.part = parts[which];
  return true;
}

template <typename Op>
static bool decodeProduct(Modifiers &modifiers, Instruction &instruction) {
  if (!takePart(modifiers, instruction) ||
      !takeIntegerType(modifiers, instruction))
    return false;
  bool isWide = instruction.part == Part::Wide;
  instruction.compute =
      isWide ? multiplyWide : forIntegers<Op>(instruction.type);
  return getBits(instruction.type) >= 16 &&
         (!isWide || getBits(instruction.type) <= 32);
}

bool pipewright::ptx::decodeIntegerMultiply(Modifiers &modifiers,
                                            Instruction &instruction) {
  return decodeProduct<Multiply>(modifiers, instruction);
}

static bool decodeMultiplyAdd(Modifiers &modifiers, Instruction &instruction) {
  if (!modifiers.take("cc"))
    return decodeProduct<MultiplyAdd>(modifiers, instruction);
  modifiers.carryOut = true;
  instruction.compute = multiplyAddCarry;
  return takePart(modifiers, instruction) && instruction.part != Part::Wide &&
         takeIntegerType(modifiers, instruction);
}

bool pipewright::ptx::decodeIntegerMultiplyAdd(Modifiers &modifiers,
                                               Instruction &instruction) {
  return decodeMultiplyAdd(modifiers, instruction);
}

static bool decodeMultiplyAddCarry(Modifiers &modifiers,
                                   Instruction &instruction) {
  return takePart(modifiers, instruction) && instruction.part != Part::Wide &&
         decodeCarry(modifiers, instruction, multiplyAddCarry);
}

static bool decodeMultiply24(Modifiers &modifiers, Instruction &instruction) {
  if (!takePart(modifiers, instruction) || instruction.part == Part::Wide ||
      !takeIntegerType(modifiers, instruction))
    return false;
  instruction.compute = forIntegers<Multiply24Add>(instruction.type);
  return getBits(instruction.type) == 32;
}

bool pipewright::ptx::decodeIntegerDivide(Modifiers &modifiers,
                                          Instruction &instruction) {
  return decode<Divide>(modifiers, instruction);
}

bool pipewright::ptx::decodeIntegerMinimum(Modifiers &modifiers,
                                           Instruction &instruction) {
  return decode<Minimum>(modifiers, instruction);
}

bool pipewright::ptx::decodeIntegerMaximum(Modifiers &modifiers,
                                           Instruction &instruction) {
  return decode<Maximum>(modifiers, instruction);
}

bool pipewright::ptx::decodeIntegerAbsolute(Modifiers &modifiers,
                                            Instruction &instruction) {
  return decode<Absolute>(modifiers, instruction);
}

bool pipewright::ptx::decodeIntegerNegate(Modifiers &modifiers,
                                          Instruction &instruction) {
  return decode<Negate>(modifiers, instruction);
}

static bool decodeSelectBySign(Modifiers &modifiers, Instruction &instruction) {
  instruction.ftz = modifiers.take("ftz");
  instruction.type = modifiers.takeType();
  instruction.sourceType = modifiers.takeType();
  instruction.compute = selectBySign;
  return instruction.sourceType == Type::S32 ||
         instruction.sourceType == Type::F32;
}

void pipewright::ptx::addIntegers(OpcodeTable &table) {
  table["addc"] = {decodeAddCarry, "rss"};
  table["subc"] = {decodeSubtractBorrow, "rss"};
  table["madc"] = {decodeMultiplyAddCarry, "rsss"};
  table["mul24"] = {decodeMultiply24, "rss"};
  table["mad24"] = {decodeMultiply24, "rsss"};
  table["rem"] = {decode<Remainder>, "rss"};
  table["sad"] = {decode<AbsoluteDifference>, "rsss"};
  table["slct"] = {decodeSelectBySign, "rsss"};
}
