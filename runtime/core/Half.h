//===- Half.h - Floats of 16 bits, from and to f32 --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By integer instructions, so that the vectorizer widens them for any x86-64.
// Both ways agree with what compiled tasks do.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_HALF_H
#define PPRT_CORE_HALF_H

#include <cstdint>
#include <cstring>

namespace pprt {

inline float floatFromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

struct BFloat16 {
  uint16_t bits;
};

/// IEEE binary16.
struct Float16 {
  uint16_t bits;
};

inline float toFloat(float value) { return value; }

/// A bf16 is the upper half of an f32.
inline float toFloat(BFloat16 value) {
  return floatFromBits(uint32_t(value.bits) << 16);
}

/// The exponent is biased by 112 less than that of f32: a product with 2^112
/// puts that right for subnormal numbers too.
inline float toFloat(Float16 value) {
  uint32_t magnitude = uint32_t(value.bits & 0x7FFF) << 13;
  uint32_t scaled = bitsOfFloat(floatFromBits(magnitude) * 0x1p112f);
  uint32_t infinite = magnitude >= 0x0F800000 ? 0x7F800000 : 0;
  return floatFromBits((scaled | infinite) | uint32_t(value.bits & 0x8000)
                                                 << 16);
}

inline void fromFloat(float value, float &result) { result = value; }

/// Rounds to the nearest, of two to the even one; a NaN stays one.
inline void fromFloat(float value, BFloat16 &result) {
  uint32_t bits = bitsOfFloat(value);
  uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  bool isNaN = (bits & 0x7FFFFFFF) > 0x7F800000;
  result.bits = isNaN ? 0x7FC0 : rounded;
}

inline void fromFloat(float value, Float16 &result) {
  uint32_t bits = bitsOfFloat(value);
  uint32_t magnitude = bits & 0x7FFFFFFF;
  // Normal: the last place that is kept is bit 13.
  uint32_t normal =
      (magnitude - (112u << 23) + 0xFFF + (magnitude >> 13 & 1)) >> 13;
  // Subnormal: a sum with 0.5, whose last place is that of the result.
  uint32_t subnormal =
      bitsOfFloat(floatFromBits(magnitude) + 0.5f) - 0x3F000000;
  uint32_t rounded = magnitude < 0x38800000 ? subnormal : normal;
  rounded = magnitude >= 0x477FF000 ? 0x7C00 : rounded;
  rounded = magnitude > 0x7F800000 ? 0x7E00 : rounded;
  result.bits = rounded | (bits >> 16 & 0x8000);
}

} // namespace pprt

#endif // PPRT_CORE_HALF_H
