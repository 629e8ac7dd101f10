//===- Opcodes.cpp - The table of instructions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Opcodes.h"

#include <algorithm>

using namespace pipewright::ptx;

Modifiers::Modifiers(std::string_view opcode) {
  size_t begin = 0;
  while (begin <= opcode.size()) {
    size_t end = std::min(opcode.find('.', begin), opcode.size());
    std::string_view word = opcode.substr(begin, end - begin);
    if (begin == 0)
      name = word;
    else
      words.push_back(word);
    begin = end + 1;
  }
}

bool Modifiers::take(std::string_view word) {
  auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end())
    return false;
  words.erase(found);
  return true;
}

int Modifiers::takeOneOf(std::initializer_list<std::string_view> candidates) {
  int index = 0;
  for (std::string_view word : candidates) {
    if (take(word))
      return index;
    ++index;
  }
  return -1;
}

void Modifiers::ignore(std::initializer_list<std::string_view> candidates) {
  for (std::string_view word : candidates)
    take(word);
}

Type Modifiers::takeType() {
  for (auto word = words.begin(); word != words.end(); ++word) {
    Type type = parseType(*word);
    if (type == Type::None)
      continue;
    words.erase(word);
    return type;
  }
  return Type::None;
}

bool pipewright::ptx::takeRounding(Modifiers &modifiers,
                                   Instruction &instruction) {
  static constexpr Rounding roundings[] = {
      Rounding::NearestEven, Rounding::NearestAway, Rounding::Zero,
      Rounding::Down, Rounding::Up};
  int which = modifiers.takeOneOf({"rn", "rna", "rz", "rm", "rp"});
  if (which < 0)
    return false;
  instruction.rounding = roundings[which];
  return true;
}

const OpcodeTable &pipewright::ptx::getOpcodes() {
  static const OpcodeTable table = [] {
    OpcodeTable table;
    addIntegers(table);
    addBits(table);
    addFloatArithmetic(table);
    addFloatFunctions(table);
    addComparisons(table);
    addConversions(table);
    addMoves(table);
    addAccesses(table);
    addAtomics(table);
    addControl(table);
    addShuffles(table);
    addMatrices(table);
    return table;
  }();
  return table;
}
