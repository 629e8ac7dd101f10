//===- Conversions.cpp - cvt
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Lanes.h"

#include <algorithm>
#include <cmath>

using namespace pipewright::ptx;

namespace {
/// An integer as its sign and magnitude.
struct Integer {
  bool negative;
  uint64_t magnitude;
};

Integer loadInteger(Type type, Word bits) {
  unsigned width = getBits(type);
  if (!isSigned(type))
    return {false, bits & maskOfBits(width)};
  int64_t value = signExtend(bits, width);
  bool negative = value < 0;
  return {negative, negative ? 0 - uint64_t(value) : uint64_t(value)};
}

/// Clamps to the range of the type.
Word clampInteger(Type type, Integer value) {
  unsigned width = getBits(type);
  if (!isSigned(type))
    return value.negative ? 0 : std::min(value.magnitude, maskOfBits(width));
  Word largest = maskOfBits(width - 1);
  if (value.negative)
    return 0 - std::min(value.magnitude, largest + 1);
  return std::min(value.magnitude, largest);
}

/// The result keeps the sign in a wider register; a register's own width cuts
/// off the rest.
void integerToInteger(const Instruction &instruction, const Word *s,
                      Word *results) {
  Type source = instruction.sourceType, type = instruction.type;
  Word value = isSigned(source) ? Word(signExtend(s[0], getBits(source)))
                                : s[0] & maskOfBits(getBits(source));
  if (instruction.saturate)
    value = clampInteger(type, loadInteger(source, s[0]));
  results[0] = isSigned(type) ? Word(signExtend(value, getBits(type)))
                              : value & maskOfBits(getBits(type));
}

/// Doubles to nearest need no second rounding.
void integerToFloat(const Instruction &instruction, const Word *s,
                    Word *results) {
  Integer value = loadInteger(instruction.sourceType, s[0]);
  if (instruction.type == Type::F64) {
    double magnitude = static_cast<double>(value.magnitude);
    results[0] = bitCast<Word>(value.negative ? -magnitude : magnitude);
    return;
  }
  results[0] =
      storeFloat(instruction.type,
                 integerToOdd(value.magnitude, value.negative), instruction);
}

/// NaN becomes 0 if both types have at most 32 bits, and else the number whose
/// only bit is the highest (PTX 9.0, "cvt").
Word convertNan(Type type, Type source) {
  unsigned bits = getBits(type);
  bool isWide = source == Type::F64 || bits == 64;
  return isWide ? Word(1) << (bits - 1) : 0;
}

/// Out of range clamps.
void floatToInteger(const Instruction &instruction, const Word *s,
                    Word *results) {
  Type source = instruction.sourceType;
  double value = flushInput(source, loadFloat(source, s[0]), instruction);
  if (std::isnan(value)) {
    results[0] = convertNan(instruction.type, source);
    return;
  }
  double rounded = std::fabs(roundToIntegral(value, instruction.rounding));
  Integer integer;
  integer.negative = value < 0;
  integer.magnitude =
      rounded >= 0x1p64 ? ~uint64_t(0) : static_cast<uint64_t>(rounded);
  results[0] = clampInteger(instruction.type, integer);
}

void floatToFloat(const Instruction &instruction, const Word *s,
                  Word *results) {
  Type source = instruction.sourceType;
  double value = flushInput(source, loadFloat(source, s[0]), instruction);
  if (instruction.toIntegral)
    value = roundToIntegral(value, instruction.rounding);
  results[0] = storeFloat(instruction.type, value, instruction);
}

/// Two numbers to the halves of one register, the first to the upper half.
void floatsToPair(const Instruction &instruction, const Word *s,
                  Word *results) {
  Type type = getElement(instruction.type);
  Word high = storeFloat(type, loadFloat(Type::F32, s[0]), instruction);
  Word low = storeFloat(type, loadFloat(Type::F32, s[1]), instruction);
  results[0] = high << 16 | low;
}

FloatFormat getByteFormat(Type type) {
  return type == Type::E4M3x2 ? e4m3 : e5m2;
}

Word encodeByte(const Instruction &instruction, double value) {
  if (instruction.relu && value < 0)
    value = 0;
  return encodeFloat(value, getByteFormat(instruction.type),
                     Rounding::NearestEven, /*saturate=*/true);
}

void floatsToBytes(const Instruction &instruction, const Word *s,
                   Word *results) {
  results[0] = encodeByte(instruction, loadFloat(Type::F32, s[0])) << 8 |
               encodeByte(instruction, loadFloat(Type::F32, s[1]));
}

void halvesToBytes(const Instruction &instruction, const Word *s,
                   Word *results) {
  Word high = s[0] >> 16 & 0xFFFF, low = s[0] & 0xFFFF;
  results[0] = encodeByte(instruction, loadFloat(Type::F16, high)) << 8 |
               encodeByte(instruction, loadFloat(Type::F16, low));
}

void bytesToHalves(const Instruction &instruction, const Word *s,
                   Word *results) {
  FloatFormat format = getByteFormat(instruction.sourceType);
  double high = decodeFloat(s[0] >> 8 & 0xFF, format);
  double low = decodeFloat(s[0] & 0xFF, format);
  results[0] = storeFloat(Type::F16, high, instruction) << 16 |
               storeFloat(Type::F16, low, instruction);
}
} // namespace

static bool isByteFloat(Type type) {
  return type == Type::E4M3x2 || type == Type::E5M2x2;
}

/// cvt.rni and the like round to an integer, also within a float type.
static bool takeIntegralRounding(Modifiers &modifiers,
                                 Instruction &instruction) {
  static constexpr Rounding roundings[] = {
      Rounding::NearestEven, Rounding::Zero, Rounding::Down, Rounding::Up};
  int which = modifiers.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  if (which < 0)
    return false;
  instruction.rounding = roundings[which];
  return instruction.toIntegral = true;
}

static bool decodeBytes(Modifiers &modifiers, Instruction &instruction) {
  if (instruction.rounding != Rounding::NearestEven)
    return false;
  if (isByteFloat(instruction.sourceType)) {
    instruction.compute = bytesToHalves;
    return instruction.type == Type::F16x2;
  }
  bool isSingle = instruction.sourceType == Type::F32;
  modifiers.shape = isSingle ? "rss" : "rs";
  instruction.compute = isSingle ? floatsToBytes : halvesToBytes;
  return instruction.saturate &&
         (isSingle || instruction.sourceType == Type::F16x2);
}

/// Conversions between floats: a narrower type needs a rounding, a type itself
/// an integral one or none.
static bool decodeFloats(Modifiers &modifiers, Instruction &instruction,
                         bool hasRounding) {
  Type type = instruction.type, source = instruction.sourceType;
  if (isPair(type)) {
    modifiers.shape = "rss";
    instruction.compute = floatsToPair;
    return source == Type::F32 && hasRounding;
  }
  instruction.compute = floatToFloat;
  if (isPair(source) || source == Type::TF32)
    return false;
  if (type == Type::TF32)
    return source == Type::F32 && hasRounding;
  if (type == source)
    return !hasRounding;
  bool isWider = getBits(type) > getBits(source);
  return isWider || hasRounding;
}

static bool decodeConversion(Modifiers &modifiers, Instruction &instruction) {
  bool hasRounding = takeRounding(modifiers, instruction);
  bool isIntegral = takeIntegralRounding(modifiers, instruction);
  bool saturatesFinite = modifiers.take("satfinite");
  instruction.ftz = modifiers.take("ftz");
  instruction.saturate = modifiers.take("sat") || saturatesFinite;
  instruction.relu = modifiers.take("relu");
  Type type = instruction.type = modifiers.takeType();
  Type source = instruction.sourceType = modifiers.takeType();
  if (type == Type::None || source == Type::None || isBits(type) ||
      isBits(source) || (hasRounding && isIntegral))
    return false;
  if (isByteFloat(type) || isByteFloat(source))
    return decodeBytes(modifiers, instruction);
  if (saturatesFinite)
    return false;
  if (isFloat(type) && isFloat(source))
    return decodeFloats(modifiers, instruction, hasRounding);
  if (isFloat(type)) {
    instruction.compute = integerToFloat;
    return hasRounding &&
           (type != Type::F64 || instruction.rounding == Rounding::NearestEven);
  }
  instruction.compute = isFloat(source) ? floatToInteger : integerToInteger;
  return isFloat(source) ? isIntegral : !hasRounding && !isIntegral;
}

void pipewright::ptx::addConversions(OpcodeTable &table) {
  table["cvt"] = {decodeConversion, "rs"};
}
