//===- Types.h - The types of PTX -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_TYPES_H
#define PIPEWRIGHT_TEST_PTX_TYPES_H

#include <cstdint>
#include <cstring>
#include <string_view>

namespace pipewright::ptx {

/// What a register holds: the low bits, the others are zero.
using Word = uint64_t;

/// One bit for each lane of a warp.
using LaneMask = uint32_t;
inline constexpr unsigned warpSize = 32;
inline constexpr LaneMask allLanes = ~LaneMask(0);

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  E4M3x2,
  E5M2x2
};

/// The type that a modifier such as "f32" names, or None.
Type parseType(std::string_view word);

unsigned getBits(Type type);
inline unsigned getBytes(Type type) { return (getBits(type) + 7) / 8; }

bool isSigned(Type type);
/// A signed or unsigned integer, not one of the bit types.
bool isInteger(Type type);
bool isBits(Type type);
bool isFloat(Type type);
/// Two 16-bit numbers in 32 bits.
bool isPair(Type type);
/// The type of the halves of a pair; other types are their own.
Type getElement(Type type);

inline Word maskOfBits(unsigned bits) {
  return bits >= 64 ? ~Word(0) : (Word(1) << bits) - 1;
}

/// The low \p bits of \p value as a signed number.
inline int64_t signExtend(Word value, unsigned bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

template <typename To, typename From>
To bitCast(const From &from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_TYPES_H
