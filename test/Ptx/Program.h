//===- Program.h - Decoded PTX ----------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parser makes of the text and the warps execute. Names are gone:
// registers, variables and labels are numbers, opcodes are functions.
//
// The way of a kernel through the files: Lexer and Parser, of three files, read
// it; the table of Opcodes, which Integers, Bits, FloatArithmetic,
// FloatFunctions, Comparisons, Conversions, Moves, Accesses, Atomics, Shuffles,
// Matrices and Control fill, gives each instruction its function. Machine
// launches Blocks, which have barriers and Warps, which step. All accesses go
// through Warp::access (WarpMemory.cpp) to a Region (Memory) and its RaceShadow
// (Races).
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_PROGRAM_H
#define PIPEWRIGHT_TEST_PTX_PROGRAM_H

#include "Ptx/Machine.h"
#include "Ptx/Types.h"

#include <optional>

namespace pipewright::ptx {

class Warp;
struct Instruction;

/// Executes an instruction for the lanes \p active of a warp. The lanes'
/// program counters are past the instruction already.
using WarpFunction = void (*)(Warp &warp, const Instruction &instruction,
                              LaneMask active);

/// Computes the results of one lane from its sources.
using LaneFunction = void (*)(const Instruction &instruction,
                              const Word *sources, Word *results);

enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param };

/// Generic addresses of these spaces are an offset to these bases, which no
/// host address reaches. All other generic addresses are global.
inline constexpr Word sharedWindow = 0xF1ull << 56;
inline constexpr Word localWindow = 0xF2ull << 56;
inline constexpr Word constWindow = 0xF3ull << 56;
inline constexpr Word paramWindow = 0xF4ull << 56;
inline constexpr Word windowMask = 0xFFull << 56;

/// Where `.global` variables begin, and the buffers of Machine::allocate.
inline constexpr Address variablesBase = 0xE0ull << 56;
inline constexpr Address buffersBase = 0xE1ull << 56;

/// In the `.param` space, addresses from here on are parameters and results of
/// calls, which each lane has of its own; those below are the kernel's. Local
/// addresses from here on are the same.
inline constexpr Word callParamBase = Word(1) << 32;

/// Dynamic shared memory begins here; `.shared` variables at 0.
inline constexpr Word dynamicSharedBase = 1 << 24;

enum class SpecialRegister : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  Clock,
  Clock64,
  GlobalTimer,
  SmId,
  NsmId,
  GridId,
  DynamicSharedBytes,
  TotalSharedBytes
};

struct Operand {
  enum class Kind : uint8_t { Register, Immediate, Special, Sink, Address };

  Kind kind = Kind::Sink;
  /// The predicate `!%p`.
  bool negated = false;
  /// An address is a register, if hasBase, plus `value`.
  bool hasBase = false;
  /// A literal such as 1.5 or 0f3F800000, whose bits fit floats alone.
  bool isFloat = false;
  SpecialRegister special = SpecialRegister::TidX;
  uint32_t index = 0;
  Word value = 0;
};

enum class Rounding : uint8_t { NearestEven, NearestAway, Zero, Down, Up };

enum class Comparison : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};

enum class Part : uint8_t { Low, High, Wide };

struct Instruction {
  /// Either executes lane by lane with `compute`, or is its own.
  WarpFunction run = nullptr;
  LaneFunction compute = nullptr;

  std::vector<Operand> results;
  std::vector<Operand> sources;
  std::vector<Operand> addresses;
  /// Predicate register of `@%p`, and whether `@!%p`.
  std::optional<uint32_t> guard;
  bool guardNegated = false;

  Type type = Type::None;
  /// What a conversion or comparison reads.
  Type sourceType = Type::None;
  Space space = Space::Generic;
  /// Elements of a memory access.
  uint8_t elements = 1;
  Rounding rounding = Rounding::NearestEven;
  Comparison comparison = Comparison::Eq;
  Part part = Part::Low;
  /// Which of the opcode's variants this is: a shuffle's mode, an atomic's
  /// operation, a barrier's reduction. Each file numbers its own.
  uint8_t variant = 0;
  bool ftz = false;
  bool saturate = false;
  bool relu = false;
  /// min.NaN and max.NaN: a NaN is the result.
  bool propagateNan = false;
  /// cvt.rni and the like: the result is an integer, of any type.
  bool toIntegral = false;
  /// A volatile, relaxed, acquire, release or atomic access.
  bool strong = false;
  /// An access through the read-only cache.
  bool nonCoherent = false;

  /// The lanes of a warp execute the instruction together.
  bool isAligned = false;

  /// Branch target, function called, or place in a list of targets.
  uint32_t target = 0;
  int64_t line = 0;
  std::string text;
};

/// Bytes in the `.param` space of calls.
struct CallSlot {
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

/// Where the caller has the arguments and results.
struct Call {
  uint32_t function = 0;
  std::vector<CallSlot> arguments, results;
};

struct Function {
  std::string name;
  bool isKernel = false;
  bool isDefined = false;
  uint32_t entry = 0;
  /// Registers [firstRegister, endRegister) are this function's: functions
  /// share no registers, so a call saves none and cannot be recursive.
  uint32_t firstRegister = 0, endRegister = 0;
  std::vector<CallSlot> parameters, results;
  KernelInfo info;
};

struct Variable {
  std::string name;
  Space space = Space::Global;
  Word address = 0;
  int64_t bytes = 0;
  /// The kernel that alone has this shared variable.
  std::optional<std::string> kernel;
  /// Shorter than bytes: the rest is zero. `.extern` variables have none.
  std::vector<uint8_t> initial;
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<Function> functions;
  std::vector<Variable> variables;
  std::vector<Call> calls;
  std::vector<std::vector<uint32_t>> branchTables;
  std::vector<std::string> registerNames;
  /// Bits that each register keeps of what is written to it.
  std::vector<Word> registerMasks;
  uint32_t sharedBytes = 0, localBytes = 0, constBytes = 0, callBytes = 0;
};

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_PROGRAM_H
