//===- Opcodes.h - The table of instructions --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An opcode is a name and modifiers: "cvt.rn.bf16.f32". The table gives each
// name a function that reads the modifiers into an Instruction and chooses the
// function that executes it. Modifiers that it does not take are errors. Each
// of the files Integers.cpp, FloatArithmetic.cpp, ... adds its instructions.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_OPCODES_H
#define PIPEWRIGHT_TEST_PTX_OPCODES_H

#include "Ptx/Program.h"

#include <initializer_list>
#include <unordered_map>

namespace pipewright::ptx {

/// The modifiers of one instruction, taken one after the other, and what
/// operands they make it have.
class Modifiers {
public:
  /// \p opcode is the whole word, "add.rn.f32".
  explicit Modifiers(std::string_view opcode);

  std::string_view getName() const { return name; }
  /// Takes \p word if it is among the modifiers.
  bool take(std::string_view word);
  /// Takes the first of \p words that is there; -1 if none is.
  int takeOneOf(std::initializer_list<std::string_view> words);
  /// Takes all modifiers that change no result: cache hints, scopes.
  void ignore(std::initializer_list<std::string_view> words);
  /// Takes the first modifier that is a type; None if there is none.
  Type takeType();
  /// The modifiers that nobody took.
  const std::vector<std::string_view> &getRest() const { return words; }

  /// One letter for each operand: 'r' a result, 's' a source, 'a' an address
  /// in brackets; '?' after one says that it may be missing.
  std::string shape;
  static constexpr int anyNumber = -2;
  /// How many numbers the results and sources are, vectors taken apart; as
  /// many as there are letters unless a decoder says more.
  int results = -1, sources = -1;
  /// Whether the instruction reads or writes the carry of the lane.
  bool carryIn = false, carryOut = false;

private:
  std::string_view name;
  std::vector<std::string_view> words;
};

/// Reads the modifiers. Returns false if the opcode lacks what it needs, such
/// as a type; modifiers that are left are found by the caller.
using Decoder = bool (*)(Modifiers &modifiers, Instruction &instruction);

struct Opcode {
  Decoder decode;
  const char *shape;
};

using OpcodeTable = std::unordered_map<std::string_view, Opcode>;

/// All instructions but call, bra and brx, whose operands only the parser
/// understands.
const OpcodeTable &getOpcodes();

void addIntegers(OpcodeTable &table);
void addBits(OpcodeTable &table);
void addFloatArithmetic(OpcodeTable &table);
void addFloatFunctions(OpcodeTable &table);
void addComparisons(OpcodeTable &table);
void addConversions(OpcodeTable &table);
void addMoves(OpcodeTable &table);
void addAccesses(OpcodeTable &table);
void addAtomics(OpcodeTable &table);
void addControl(OpcodeTable &table);
void addShuffles(OpcodeTable &table);
void addMatrices(OpcodeTable &table);

/// Takes ".rn", ".rz", ".rm", ".rp" or ".rna"; false if none is there.
bool takeRounding(Modifiers &modifiers, Instruction &instruction);

/// Runs instruction.compute for each active lane.
void runLanes(Warp &warp, const Instruction &instruction, LaneMask active);
/// The same for copies, where an unwritten source makes the result unwritten
/// and is no fault.
void runCopy(Warp &warp, const Instruction &instruction, LaneMask active);

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_OPCODES_H
