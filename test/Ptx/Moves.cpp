//===- Moves.cpp - mov, and addresses from one space to another
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Spaces.h"
#include "Ptx/Warp.h"

using namespace pipewright::ptx;

namespace {
/// `mov.b32 %r, {%lo, %hi}` packs, `mov.b32 {%lo, %hi}, %r` unpacks.
void move(const Instruction &instruction, const Word *s, Word *results) {
  unsigned bits = getBits(instruction.type);
  size_t parts = instruction.sources.size();
  Word whole = 0;
  for (size_t i = 0; i < parts; ++i) {
    unsigned width = bits / static_cast<unsigned>(parts);
    whole |= (s[i] & maskOfBits(width)) << (i * width);
  }
  parts = instruction.results.size();
  for (size_t i = 0; i < parts; ++i) {
    unsigned width = bits / static_cast<unsigned>(parts);
    results[i] = whole >> (i * width) & maskOfBits(width);
  }
}

Word getWindow(Space space) {
  switch (space) {
  case Space::Shared:
    return sharedWindow;
  case Space::Local:
    return localWindow;
  case Space::Const:
    return constWindow;
  case Space::Param:
    return paramWindow;
  default:
    return 0;
  }
}

void toGeneric(const Instruction &instruction, const Word *s, Word *results) {
  results[0] = s[0] + getWindow(instruction.space);
}

void fromGeneric(const Instruction &instruction, const Word *s, Word *results) {
  results[0] = s[0] - getWindow(instruction.space);
}

void isInSpace(const Instruction &instruction, const Word *s, Word *results) {
  Word window = s[0] & windowMask;
  bool isOther = window == sharedWindow || window == localWindow ||
                 window == constWindow || window == paramWindow;
  results[0] = instruction.space == Space::Global
                   ? !isOther
                   : window == getWindow(instruction.space);
}
} // namespace

static bool decodeMove(Modifiers &modifiers, Instruction &instruction) {
  instruction.type = modifiers.takeType();
  instruction.compute = move;
  instruction.run = runCopy;
  modifiers.results = modifiers.sources = Modifiers::anyNumber;
  return instruction.type != Type::None;
}

static bool decodeAddress(Modifiers &modifiers, Instruction &instruction) {
  instruction.compute = modifiers.take("to") ? fromGeneric : toGeneric;
  instruction.space = takeSpace(modifiers);
  instruction.type = modifiers.takeType();
  return instruction.space != Space::Generic && getBits(instruction.type) >= 32;
}

static bool decodeIsInSpace(Modifiers &modifiers, Instruction &instruction) {
  instruction.compute = isInSpace;
  instruction.space = takeSpace(modifiers);
  return instruction.space != Space::Generic;
}

void pipewright::ptx::addMoves(OpcodeTable &table) {
  table["mov"] = {decodeMove, "rs"};
  table["cvta"] = {decodeAddress, "rs"};
  table["isspacep"] = {decodeIsInSpace, "rs"};
}
