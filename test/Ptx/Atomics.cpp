//===- Atomics.cpp - atom and red
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes take turns in the order of their numbers. Another order would be as
// right: tests of float atomics have to allow for it.
//
//===----------------------------------------------------------------------===//

#include "Ptx/Lanes.h"
#include "Ptx/Spaces.h"
#include "Ptx/Warp.h"

#include <algorithm>

using namespace pipewright::ptx;

namespace {
enum Operation {
  AtomicAdd,
  AtomicMin,
  AtomicMax,
  AtomicIncrement,
  AtomicDecrement,
  AtomicAnd,
  AtomicOr,
  AtomicXor,
  AtomicExchange,
  AtomicCompareSwap
};
} // namespace

static Word updateFloat(const Instruction &instruction, Word old, Word value) {
  Type type = getElement(instruction.type);
  double a = loadFloat(type, old), b = loadFloat(type, value);
  double result = 0;
  switch (instruction.variant) {
  case AtomicMin:
    result = std::min(a, b);
    break;
  case AtomicMax:
    result = std::max(a, b);
    break;
  default:
    result = type == Type::F64 ? a + b : roundToOdd(addExactly(a, b));
  }
  return storeFloat(type, result, instruction);
}

static Word updatePair(const Instruction &instruction, Word old, Word value) {
  return updateFloat(instruction, old >> 16 & 0xFFFF, value >> 16 & 0xFFFF)
             << 16 |
         updateFloat(instruction, old & 0xFFFF, value & 0xFFFF);
}

static bool isLess(Type type, Word a, Word b) {
  unsigned bits = getBits(type);
  if (isSigned(type))
    return signExtend(a, bits) < signExtend(b, bits);
  return a < b;
}

static Word updateInteger(const Instruction &instruction, Word old, Word value,
                          Word swapped) {
  bool isSmaller = isLess(instruction.type, value, old);
  switch (instruction.variant) {
  case AtomicAdd:
    return old + value;
  case AtomicMin:
    return isSmaller ? value : old;
  case AtomicMax:
    return isSmaller ? old : value;
  case AtomicIncrement:
    return old >= value ? 0 : old + 1;
  case AtomicDecrement:
    return old == 0 || old > value ? value : old - 1;
  case AtomicAnd:
    return old & value;
  case AtomicOr:
    return old | value;
  case AtomicXor:
    return old ^ value;
  case AtomicCompareSwap:
    return old == value ? swapped : old;
  default:
    return value;
  }
}

static Word update(const Instruction &instruction, Word old, Word value,
                   Word swapped) {
  if (isPair(instruction.type))
    return updatePair(instruction, old, value);
  if (isFloat(instruction.type))
    return updateFloat(instruction, old, value);
  Word mask = maskOfBits(getBits(instruction.type));
  return updateInteger(instruction, old & mask, value & mask, swapped & mask);
}

/// Sources are the elements' values or, for cas, what is compared with and
/// what is stored. red has no results.
static void runAtomic(Warp &warp, const Instruction &instruction,
                      LaneMask active) {
  warp.checkWritten(instruction.addresses[0], active);
  for (const Operand &source : instruction.sources)
    warp.checkWritten(source, active);
  bool isSwap = instruction.variant == AtomicCompareSwap;
  unsigned bytes = getBytes(instruction.type);
  forEachLane(active, [&](unsigned lane) {
    MemoryAccess access = warp.makeAccess(instruction, lane);
    access.isAtomic = true;
    uint8_t *place = warp.access(lane, access);
    if (!place)
      return;
    for (unsigned i = 0; i < instruction.elements; ++i) {
      Word old = 0;
      std::memcpy(&old, place + i * bytes, bytes);
      Word value = warp.read(instruction.sources[i], lane);
      Word swapped = isSwap ? warp.read(instruction.sources[1], lane) : 0;
      Word updated = update(instruction, old, value, swapped);
      std::memcpy(place + i * bytes, &updated, bytes);
      if (!instruction.results.empty())
        warp.write(instruction.results[i], lane, old);
    }
  });
}

/// Types and operations that PTX has together.
static bool isValid(const Instruction &instruction) {
  Type type = instruction.type;
  unsigned bits = getBits(type);
  bool isExtremum =
      instruction.variant == AtomicMin || instruction.variant == AtomicMax;
  if (instruction.elements > 1 && !isFloat(type))
    return false;
  if (isPair(type) || bits == 16)
    return instruction.variant == AtomicAdd ||
           (isExtremum && instruction.elements > 1) ||
           (instruction.variant == AtomicCompareSwap && !isFloat(type));
  if (isFloat(type))
    return instruction.variant == AtomicAdd;
  return bits == 32 || bits == 64;
}

static bool decodeAtomic(Modifiers &modifiers, Instruction &instruction) {
  takeOrder(modifiers, instruction);
  instruction.strong = true;
  instruction.space = takeSpace(modifiers);
  int operation = modifiers.takeOneOf(
      {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
  instruction.variant = static_cast<uint8_t>(operation);
  modifiers.take("noftz");
  static constexpr uint8_t counts[] = {1, 2, 4, 8};
  instruction.elements = counts[modifiers.takeOneOf({"v2", "v4", "v8"}) + 1];
  instruction.type = modifiers.takeType();
  instruction.run = runAtomic;
  int sources = instruction.elements;
  if (operation == AtomicCompareSwap) {
    modifiers.shape += 's';
    ++sources;
  }
  size_t known = modifiers.shape.size();
  takeCacheHints(modifiers);
  sources += static_cast<int>(modifiers.shape.size() - known);
  modifiers.sources = sources;
  if (modifiers.shape[0] == 'r')
    modifiers.results = instruction.elements;
  return operation >= 0 && instruction.type != Type::None &&
         isValid(instruction);
}

void pipewright::ptx::addAtomics(OpcodeTable &table) {
  table["atom"] = {decodeAtomic, "ras"};
  table["red"] = {decodeAtomic, "as"};
}
