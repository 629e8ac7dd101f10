//===- Bits.cpp - Logic, shifts and fields of bits
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Lanes.h"

#include <algorithm>

using namespace pipewright::ptx;

namespace {
struct And {
  template <typename T>
  static T apply(const Instruction &, T a, T b, T) {
    return a & b;
  }
};

struct Or {
  template <typename T>
  static T apply(const Instruction &, T a, T b, T) {
    return a | b;
  }
};

struct Xor {
  template <typename T>
  static T apply(const Instruction &, T a, T b, T) {
    return a ^ b;
  }
};

/// Predicates are one bit.
template <typename Op>
void onPredicates(const Instruction &instruction, const Word *s,
                  Word *results) {
  results[0] = Op::template apply<Word>(instruction, s[0], s[1], 0) & 1;
}

void complement(const Instruction &instruction, const Word *s, Word *results) {
  results[0] = ~s[0] & maskOfBits(getBits(instruction.type));
}

/// C's `!`.
void logicalNot(const Instruction &instruction, const Word *s, Word *results) {
  results[0] = (s[0] & maskOfBits(getBits(instruction.type))) == 0;
}

/// Shifts take 32 bits of their amount; amounts beyond the width shift out
/// all bits.
void shiftLeft(const Instruction &instruction, const Word *s, Word *results) {
  unsigned bits = getBits(instruction.type);
  uint32_t amount = static_cast<uint32_t>(s[1]);
  results[0] = amount >= bits ? 0 : (s[0] << amount) & maskOfBits(bits);
}

void shiftRight(const Instruction &instruction, const Word *s, Word *results) {
  unsigned bits = getBits(instruction.type);
  uint32_t amount = static_cast<uint32_t>(s[1]);
  if (isSigned(instruction.type))
    results[0] = Word(signExtend(s[0], bits) >> std::min(amount, bits - 1)) &
                 maskOfBits(bits);
  else
    results[0] = amount >= bits ? 0 : (s[0] & maskOfBits(bits)) >> amount;
}

enum FunnelAmount { Wrap, Clamp };

uint32_t getFunnelAmount(const Instruction &instruction, Word amount) {
  uint32_t wanted = static_cast<uint32_t>(amount);
  return instruction.variant == Wrap ? wanted & 31 : std::min(wanted, 32u);
}

/// The upper word of (b, a) shifted left.
void funnelLeft(const Instruction &instruction, const Word *s, Word *results) {
  Word both = s[1] << 32 | (s[0] & 0xFFFFFFFF);
  uint32_t amount = getFunnelAmount(instruction, s[2]);
  results[0] = both << amount >> 32;
}

/// The lower word of (b, a) shifted right.
void funnelRight(const Instruction &instruction, const Word *s, Word *results) {
  Word both = s[1] << 32 | (s[0] & 0xFFFFFFFF);
  uint32_t amount = getFunnelAmount(instruction, s[2]);
  results[0] = both >> amount & 0xFFFFFFFF;
}

/// Each bit of the results is the table's entry of the three sources' bits.
void lookup3(const Instruction &, const Word *s, Word *results) {
  Word result = 0;
  for (unsigned entry = 0; entry < 8; ++entry) {
    if (!(s[3] >> entry & 1))
      continue;
    Word a = entry & 4 ? s[0] : ~s[0];
    Word b = entry & 2 ? s[1] : ~s[1];
    Word c = entry & 1 ? s[2] : ~s[2];
    result |= a & b & c;
  }
  results[0] = result & 0xFFFFFFFF;
}

enum PermuteMode { Default, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

/// Which of the eight bytes becomes byte \p i of the result.
unsigned getPermutedByte(unsigned mode, Word control, unsigned i) {
  unsigned select = control & 3;
  switch (mode) {
  case F4e:
    return select + i;
  case B4e:
    return (select - i) & 7;
  case Rc8:
    return select;
  case Ecl:
    return std::max(select, i);
  case Ecr:
    return std::min(select, i);
  case Rc16:
    return (select & 1) * 2 + (i & 1);
  default:
    return control >> (4 * i) & 7;
  }
}

void permuteBytes(const Instruction &instruction, const Word *s,
                  Word *results) {
  Word both = s[1] << 32 | (s[0] & 0xFFFFFFFF);
  Word result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned from = getPermutedByte(instruction.variant, s[2], i);
    Word byte = both >> (8 * from) & 0xFF;
    // The default mode can spread a byte's sign.
    if (instruction.variant == Default && s[2] >> (4 * i + 3) & 1)
      byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << (8 * i);
  }
  results[0] = result;
}

void extractField(const Instruction &instruction, const Word *s,
                  Word *results) {
  unsigned bits = getBits(instruction.type);
  unsigned position = s[1] & 0xFF, length = s[2] & 0xFF;
  Word source = s[0] & maskOfBits(bits);
  Word field = position >= bits ? 0 : source >> position;
  field &= maskOfBits(length);
  // Signed fields repeat their last bit that is in the source.
  unsigned last = std::min(position + length - 1, bits - 1);
  bool negative =
      isSigned(instruction.type) && length > 0 && (source >> last & 1);
  unsigned valid = position >= bits ? 0 : std::min(length, bits - position);
  if (negative)
    field |= ~maskOfBits(valid);
  results[0] = field & maskOfBits(bits);
}

/// The low bits of the first source in place of a field of the second.
void insertField(const Instruction &instruction, const Word *s, Word *results) {
  unsigned bits = getBits(instruction.type);
  unsigned position = s[2] & 0xFF, length = s[3] & 0xFF;
  Word mask = position >= bits ? 0 : maskOfBits(length) << position;
  Word field = position >= bits ? 0 : s[0] << position;
  results[0] = ((s[1] & ~mask) | (field & mask)) & maskOfBits(bits);
}

unsigned countLeadingZeros(Word value, unsigned bits) {
  unsigned count = 0;
  while (count < bits && !(value >> (bits - 1 - count) & 1))
    ++count;
  return count;
}

void leadingZeros(const Instruction &instruction, const Word *s,
                  Word *results) {
  results[0] = countLeadingZeros(s[0], getBits(instruction.type));
}

/// The place of the highest bit that is no copy of the sign; all ones if
/// there is none. `.shiftamt` counts from the top instead.
void findBit(const Instruction &instruction, const Word *s, Word *results) {
  unsigned bits = getBits(instruction.type);
  Word value = s[0] & maskOfBits(bits);
  if (isSigned(instruction.type) && value >> (bits - 1))
    value = ~value & maskOfBits(bits);
  if (value == 0) {
    results[0] = 0xFFFFFFFF;
    return;
  }
  unsigned zeros = countLeadingZeros(value, bits);
  results[0] = instruction.variant ? zeros : bits - 1 - zeros;
}

void countBits(const Instruction &instruction, const Word *s, Word *results) {
  Word value = s[0] & maskOfBits(getBits(instruction.type));
  Word count = 0;
  for (; value; value &= value - 1)
    ++count;
  results[0] = count;
}

void reverseBits(const Instruction &instruction, const Word *s, Word *results) {
  unsigned bits = getBits(instruction.type);
  Word result = 0;
  for (unsigned i = 0; i < bits; ++i)
    result |= (s[0] >> i & 1) << (bits - 1 - i);
  results[0] = result;
}

/// \p c ones from bit \p position on.
void makeMask(const Instruction &instruction, const Word *s, Word *results) {
  uint32_t position = static_cast<uint32_t>(s[0]);
  uint32_t length = static_cast<uint32_t>(s[1]);
  if (instruction.variant == Wrap) {
    position &= 31;
    length &= 31;
  }
  Word ones = maskOfBits(std::min(length, 32u));
  results[0] = position >= 32 ? 0 : ones << position & 0xFFFFFFFF;
}

/// Sums of products of four bytes; the sign is of all of them.
template <typename Byte>
void dotProduct(const Instruction &, const Word *s, Word *results) {
  uint32_t sum = static_cast<uint32_t>(s[2]);
  for (unsigned i = 0; i < 4; ++i)
    sum += static_cast<uint32_t>(static_cast<Byte>(s[0] >> (8 * i)) *
                                 static_cast<Byte>(s[1] >> (8 * i)));
  results[0] = sum;
}
} // namespace

static bool takeBitsType(Modifiers &modifiers, Instruction &instruction) {
  instruction.type = modifiers.takeType();
  return isBits(instruction.type);
}

template <typename Op>
static bool decodeLogic(Modifiers &modifiers, Instruction &instruction) {
  if (!takeBitsType(modifiers, instruction))
    return false;
  instruction.compute = instruction.type == Type::Pred
                            ? onPredicates<Op>
                            : forIntegers<Op>(instruction.type);
  return true;
}

/// Instructions on one of the bit types, without further modifiers.
template <LaneFunction function>
static bool decodeBits(Modifiers &modifiers, Instruction &instruction) {
  instruction.compute = function;
  return takeBitsType(modifiers, instruction);
}

/// The same on integers of 32 or 64 bits.
template <LaneFunction function>
static bool decodeAny(Modifiers &modifiers, Instruction &instruction) {
  instruction.compute = function;
  instruction.type = modifiers.takeType();
  return !isFloat(instruction.type) && getBits(instruction.type) >= 16;
}

static bool decodeFunnel(Modifiers &modifiers, Instruction &instruction) {
  bool isLeft = modifiers.take("l");
  if (!isLeft && !modifiers.take("r"))
    return false;
  int amount = modifiers.takeOneOf({"wrap", "clamp"});
  instruction.variant = static_cast<uint8_t>(amount);
  instruction.compute = isLeft ? funnelLeft : funnelRight;
  return amount >= 0 && modifiers.takeType() == Type::B32;
}

static bool decodeLookup(Modifiers &modifiers, Instruction &instruction) {
  instruction.compute = lookup3;
  return modifiers.takeType() == Type::B32;
}

static bool decodePermute(Modifiers &modifiers, Instruction &instruction) {
  int mode =
      modifiers.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) + 1;
  instruction.variant = static_cast<uint8_t>(mode);
  instruction.compute = permuteBytes;
  return modifiers.takeType() == Type::B32;
}

static bool decodeFindBit(Modifiers &modifiers, Instruction &instruction) {
  instruction.variant = modifiers.take("shiftamt");
  return decodeAny<findBit>(modifiers, instruction);
}

static bool decodeMask(Modifiers &modifiers, Instruction &instruction) {
  int amount = modifiers.takeOneOf({"wrap", "clamp"});
  instruction.variant = static_cast<uint8_t>(amount);
  instruction.compute = makeMask;
  return amount >= 0 && modifiers.takeType() == Type::B32;
}

static bool decodeDotProduct(Modifiers &modifiers, Instruction &instruction) {
  Type first = modifiers.takeType();
  instruction.type = first;
  instruction.compute =
      first == Type::S32 ? dotProduct<int8_t> : dotProduct<uint8_t>;
  return modifiers.takeType() == first && getBits(first) == 32;
}

void pipewright::ptx::addBits(OpcodeTable &table) {
  table["and"] = {decodeLogic<And>, "rss"};
  table["or"] = {decodeLogic<Or>, "rss"};
  table["xor"] = {decodeLogic<Xor>, "rss"};
  table["not"] = {decodeBits<complement>, "rs"};
  table["cnot"] = {decodeBits<logicalNot>, "rs"};
  table["shl"] = {decodeBits<shiftLeft>, "rss"};
  table["shr"] = {decodeAny<shiftRight>, "rss"};
  table["shf"] = {decodeFunnel, "rsss"};
  table["lop3"] = {decodeLookup, "rssss"};
  table["prmt"] = {decodePermute, "rsss"};
  table["bfe"] = {decodeAny<extractField>, "rsss"};
  table["bfi"] = {decodeBits<insertField>, "rssss"};
  table["bfind"] = {decodeFindBit, "rs"};
  table["clz"] = {decodeBits<leadingZeros>, "rs"};
  table["popc"] = {decodeBits<countBits>, "rs"};
  table["brev"] = {decodeBits<reverseBits>, "rs"};
  table["bmsk"] = {decodeMask, "rss"};
  table["dp4a"] = {decodeDotProduct, "rsss"};
}
