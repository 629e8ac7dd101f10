//===- Floats.cpp - Number formats and rounding
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Floats.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace pipewright::ptx;

static int getBias(FloatFormat format) {
  return (1 << (format.exponentBits - 1)) - 1;
}

static Word getNan(FloatFormat format) {
  return maskOfBits(format.exponentBits + format.mantissaBits);
}

static Word getInfinity(FloatFormat format) {
  return maskOfBits(format.exponentBits) << format.mantissaBits;
}

/// The bits of the largest finite number.
static Word getLargest(FloatFormat format) {
  return format.hasInfinity ? getInfinity(format) - 1 : getNan(format) - 1;
}

/// Whether a magnitude that lies between two numbers becomes the upper one.
/// \p rest is how far it is above the lower one, in units of their distance.
static bool roundsUp(double rest, bool lowerIsOdd, bool negative,
                     Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return rest > 0.5 || (rest == 0.5 && lowerIsOdd);
  case Rounding::NearestAway:
    return rest >= 0.5;
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return rest > 0 && negative;
  case Rounding::Up:
    return rest > 0 && !negative;
  }
  return false;
}

/// What a magnitude above the largest finite number becomes.
static Word getOverflow(FloatFormat format, bool negative, Rounding rounding,
                        bool saturate) {
  bool towardZero = rounding == Rounding::Zero ||
                    (rounding == Rounding::Down && !negative) ||
                    (rounding == Rounding::Up && negative);
  if (saturate || towardZero)
    return getLargest(format);
  return format.hasInfinity ? getInfinity(format) : getNan(format);
}

Word pipewright::ptx::encodeFloat(double value, FloatFormat format,
                                  Rounding rounding, bool saturate) {
  if (std::isnan(value))
    return getNan(format);
  bool negative = std::signbit(value);
  Word sign = Word(negative) << (format.exponentBits + format.mantissaBits);
  double magnitude = std::fabs(value);
  if (std::isinf(value)) {
    Word infinity = format.hasInfinity ? getInfinity(format) : getNan(format);
    return sign | (saturate ? getLargest(format) : infinity);
  }
  if (magnitude == 0)
    return sign;

  // The magnitude is units * 2^scale, and numbers of the format are those with
  // whole units. Subnormal numbers have the scale of the smallest normal ones.
  int exponent = std::ilogb(magnitude);
  int smallest = 1 - getBias(format);
  int scale = std::max(exponent, smallest) - format.mantissaBits;
  double units = std::ldexp(magnitude, -scale);
  double lower = std::floor(units);
  Word whole = static_cast<Word>(lower);
  whole += roundsUp(units - lower, whole & 1, negative, rounding);

  // Adding the mantissa with its hidden bit carries into the exponent.
  Word hidden = Word(1) << format.mantissaBits;
  Word bits = whole;
  if (whole >= hidden)
    bits += Word(scale + format.mantissaBits - smallest) << format.mantissaBits;
  if (bits > getLargest(format))
    bits = getOverflow(format, negative, rounding, saturate);
  return sign | bits;
}

double pipewright::ptx::decodeFloat(Word bits, FloatFormat format) {
  int width = format.exponentBits + format.mantissaBits;
  bool negative = bits >> width & 1;
  Word magnitude = bits & maskOfBits(width);
  Word mantissa = magnitude & maskOfBits(format.mantissaBits);
  int exponent = static_cast<int>(magnitude >> format.mantissaBits);

  double value;
  if (format.hasInfinity && magnitude >= getInfinity(format))
    value = mantissa ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  else if (!format.hasInfinity && magnitude == getNan(format))
    value = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(static_cast<double>(mantissa),
                       1 - getBias(format) - format.mantissaBits);
  else
    value = std::ldexp(
        static_cast<double>(mantissa + (Word(1) << format.mantissaBits)),
        exponent - getBias(format) - format.mantissaBits);
  return negative ? -value : value;
}

double pipewright::ptx::loadFloat(Type type, Word bits) {
  switch (type) {
  case Type::F16:
    return decodeFloat(bits, float16);
  case Type::BF16:
    return bitCast<float>(static_cast<uint32_t>(bits) << 16);
  case Type::F32:
  case Type::TF32:
    return bitCast<float>(static_cast<uint32_t>(bits));
  default:
    return bitCast<double>(bits);
  }
}

/// The smallest normal number of the type.
static double getSmallestNormal(Type type) {
  switch (type) {
  case Type::F16:
    return 0x1p-14;
  case Type::F64:
    return std::numeric_limits<double>::min();
  default:
    return 0x1p-126;
  }
}

double pipewright::ptx::flushInput(Type type, double value,
                                   const Instruction &instruction) {
  if (instruction.ftz && std::fabs(value) < getSmallestNormal(type))
    return std::copysign(0.0, value);
  return value;
}

static Word encodeSingle(double value, Rounding rounding) {
  if (std::isnan(value))
    return getNan(float32);
  if (rounding == Rounding::NearestEven)
    return bitCast<uint32_t>(static_cast<float>(value));
  return encodeFloat(value, float32, rounding);
}

Word pipewright::ptx::storeFloat(Type type, double value,
                                 const Instruction &instruction) {
  if (instruction.saturate)
    value = value > 0 ? std::min(value, 1.0) : 0.0; // NaN becomes 0 too.
  if (instruction.relu && value < 0)
    value = 0;
  Word bits = 0;
  switch (type) {
  case Type::F16:
    bits = encodeFloat(value, float16, instruction.rounding);
    break;
  case Type::BF16:
    bits = encodeFloat(value, bfloat16, instruction.rounding);
    break;
  case Type::TF32:
    return encodeFloat(value, tfloat32, instruction.rounding) << 13;
  case Type::F32:
    bits = encodeSingle(value, instruction.rounding);
    break;
  default:
    return bitCast<Word>(std::isnan(value) ? bitCast<double>(maskOfBits(63))
                                           : value);
  }
  if (!instruction.ftz)
    return bits;
  double flushed = flushInput(type, loadFloat(type, bits), instruction);
  return flushed == 0 ? Word(std::signbit(flushed)) << (getBits(type) - 1)
                      : bits;
}

Inexact pipewright::ptx::addExactly(double a, double b) {
  // Knuth's exact error of a sum.
  double sum = a + b;
  double other = sum - a;
  return {sum, (a - (sum - other)) + (b - other)};
}

Inexact pipewright::ptx::multiplyExactly(double a, double b) {
  double product = a * b;
  return {product, std::fma(a, b, -product)};
}

Inexact pipewright::ptx::divideExactly(double a, double b) {
  double quotient = a / b;
  if (quotient == 0 || !std::isfinite(b))
    return {quotient};
  double rest = std::fma(-quotient, b, a);
  return {quotient, b > 0 ? rest : -rest};
}

Inexact pipewright::ptx::takeRootExactly(double a) {
  double root = std::sqrt(a);
  return {root, std::fma(-root, root, a)};
}

Inexact pipewright::ptx::multiplyAddExactly(double a, double b, double c) {
  Inexact product = multiplyExactly(a, b);
  if (product.error != 0)
    return {std::fma(a, b, c)};
  return addExactly(product.value, c);
}

/// Whether the exact result is another number; infinities and NaN are exact.
static bool isInexact(Inexact result) {
  return std::isfinite(result.value) && std::isfinite(result.error) &&
         result.error != 0;
}

/// The double on the other side of the exact result.
static double getOtherSide(Inexact result) {
  double infinity = std::numeric_limits<double>::infinity();
  return std::nextafter(result.value, result.error > 0 ? infinity : -infinity);
}

double pipewright::ptx::roundToOdd(Inexact result) {
  bool isOdd = bitCast<Word>(result.value) & 1;
  return isInexact(result) && !isOdd ? getOtherSide(result) : result.value;
}

double pipewright::ptx::roundToDouble(Inexact result, Rounding rounding) {
  if (!isInexact(result))
    return result.value;
  bool isAbove = result.error > 0, isPositive = result.value > 0;
  bool stepsUp = rounding == Rounding::Up && isAbove;
  bool stepsDown = rounding == Rounding::Down && !isAbove;
  bool stepsIn = rounding == Rounding::Zero && isPositive != isAbove;
  return stepsUp || stepsDown || stepsIn ? getOtherSide(result) : result.value;
}

double pipewright::ptx::roundToIntegral(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return std::nearbyint(value);
  case Rounding::NearestAway:
    return std::round(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  }
  return value;
}

double pipewright::ptx::integerToOdd(uint64_t magnitude, bool negative) {
  int shift = 0;
  while (magnitude >> shift >= Word(1) << 53)
    ++shift;
  Word kept = magnitude >> shift;
  if (magnitude & maskOfBits(shift))
    kept |= 1;
  double value = std::ldexp(static_cast<double>(kept), shift);
  return negative ? -value : value;
}
