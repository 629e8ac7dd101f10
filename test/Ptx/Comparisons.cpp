//===- Comparisons.cpp - Comparisons and selection
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Lanes.h"

#include <cmath>

using namespace pipewright::ptx;

namespace {
enum Combination { Alone, CombineAnd, CombineOr, CombineXor };

template <typename T>
bool compareOrdered(Comparison comparison, T a, T b) {
  switch (comparison) {
  case Comparison::Eq:
  case Comparison::Equ:
    return a == b;
  case Comparison::Ne:
  case Comparison::Neu:
    return a != b;
  case Comparison::Lt:
  case Comparison::Ltu:
    return a < b;
  case Comparison::Le:
  case Comparison::Leu:
    return a <= b;
  case Comparison::Gt:
  case Comparison::Gtu:
    return a > b;
  case Comparison::Ge:
  case Comparison::Geu:
    return a >= b;
  case Comparison::Num:
    return true;
  case Comparison::Nan:
    return false;
  }
  return false;
}

/// The forms that end in u, and nan, hold where a source is NaN.
bool compareFloats(Comparison comparison, double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return comparison >= Comparison::Equ && comparison != Comparison::Num;
  return compareOrdered(comparison, a, b);
}

bool compare(const Instruction &instruction, Type type, Word a, Word b) {
  if (isFloat(type))
    return compareFloats(instruction.comparison,
                         flushInput(type, loadFloat(type, a), instruction),
                         flushInput(type, loadFloat(type, b), instruction));
  unsigned bits = getBits(type);
  if (isSigned(type))
    return compareOrdered(instruction.comparison, signExtend(a, bits),
                          signExtend(b, bits));
  return compareOrdered(instruction.comparison, a & maskOfBits(bits),
                        b & maskOfBits(bits));
}

bool combine(const Instruction &instruction, bool holds, Word other) {
  switch (instruction.variant) {
  case CombineAnd:
    return holds && other;
  case CombineOr:
    return holds || other;
  case CombineXor:
    return holds != (other != 0);
  default:
    return holds;
  }
}

/// setp: the second result is of the opposite comparison, or, for pairs, of
/// the upper halves.
void setPredicate(const Instruction &instruction, const Word *s,
                  Word *results) {
  Type type = getElement(instruction.sourceType);
  bool low = compare(instruction, type, s[0], s[1]);
  bool other = isPair(instruction.sourceType)
                   ? compare(instruction, type, s[0] >> 16, s[1] >> 16)
                   : !low;
  results[0] = combine(instruction, low, s[2]);
  results[1] = combine(instruction, other, s[2]);
}

/// What set gives where the comparison holds: 1.0 or all ones.
Word getTrue(Type type) {
  switch (type) {
  case Type::F32:
    return 0x3F800000;
  case Type::F16:
    return 0x3C00;
  case Type::BF16:
    return 0x3F80;
  default:
    return maskOfBits(getBits(type));
  }
}

void setNumber(const Instruction &instruction, const Word *s, Word *results) {
  Type source = getElement(instruction.sourceType);
  Type type = getElement(instruction.type);
  bool low =
      combine(instruction, compare(instruction, source, s[0], s[1]), s[2]);
  results[0] = low ? getTrue(type) : 0;
  if (!isPair(instruction.sourceType))
    return;
  bool high = combine(
      instruction, compare(instruction, source, s[0] >> 16, s[1] >> 16), s[2]);
  Word one = isPair(instruction.type) ? getTrue(type) : 0xFFFF;
  results[0] = (low ? one & 0xFFFF : 0) | (high ? one << 16 : 0);
}

void select(const Instruction &, const Word *s, Word *results) {
  results[0] = s[2] ? s[0] : s[1];
}
} // namespace

/// The unsigned forms lo, ls, hi and hs are those of the type.
static bool takeComparison(Modifiers &modifiers, Instruction &instruction) {
  int which =
      modifiers.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu",
                           "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (which >= 0) {
    instruction.comparison = static_cast<Comparison>(which);
    return true;
  }
  static constexpr Comparison orders[] = {Comparison::Lt, Comparison::Le,
                                          Comparison::Gt, Comparison::Ge};
  which = modifiers.takeOneOf({"lo", "ls", "hi", "hs"});
  if (which >= 0)
    instruction.comparison = orders[which];
  return which >= 0;
}

/// The comparison, and what it is combined with.
static bool decodeComparison(Modifiers &modifiers, Instruction &instruction) {
  if (!takeComparison(modifiers, instruction))
    return false;
  int combination = modifiers.takeOneOf({"and", "or", "xor"}) + 1;
  instruction.variant = static_cast<uint8_t>(combination);
  if (combination != Alone)
    modifiers.shape += 's';
  instruction.ftz = modifiers.take("ftz");
  return true;
}

static bool takeComparedType(Modifiers &modifiers, Instruction &instruction) {
  instruction.sourceType = modifiers.takeType();
  bool isUnordered = instruction.comparison >= Comparison::Equ;
  return instruction.sourceType != Type::None &&
         (isFloat(instruction.sourceType) || !isUnordered);
}

static bool decodeSetPredicate(Modifiers &modifiers, Instruction &instruction) {
  if (!decodeComparison(modifiers, instruction))
    return false;
  instruction.compute = setPredicate;
  modifiers.results = Modifiers::anyNumber; // The second may be left out.
  return takeComparedType(modifiers, instruction);
}

static bool decodeSetNumber(Modifiers &modifiers, Instruction &instruction) {
  if (!decodeComparison(modifiers, instruction))
    return false;
  instruction.type = modifiers.takeType();
  instruction.compute = setNumber;
  return takeComparedType(modifiers, instruction);
}

static bool decodeSelect(Modifiers &modifiers, Instruction &instruction) {
  instruction.type = modifiers.takeType();
  instruction.compute = select;
  return instruction.type != Type::None && instruction.type != Type::Pred;
}

void pipewright::ptx::addComparisons(OpcodeTable &table) {
  table["setp"] = {decodeSetPredicate, "rss"};
  table["set"] = {decodeSetNumber, "rss"};
  table["selp"] = {decodeSelect, "rsss"};
}
