//===- Lanes.h - From an operation to its lane functions --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation is a struct with a static function on C++ numbers. forIntegers
// and forFloats make it the LaneFunction of the type that the opcode names.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_LANES_H
#define PIPEWRIGHT_TEST_PTX_LANES_H

#include "Ptx/Floats.h"
#include "Ptx/Opcodes.h"

#include <type_traits>

namespace pipewright::ptx {

/// Operations on integers: `static T apply(const Instruction &, T a, T b, T c)`
/// of which the instruction has as many sources as it needs; the others are 0.
template <typename Op, typename T>
void onIntegers(const Instruction &instruction, const Word *s, Word *results) {
  T a = static_cast<T>(s[0]), b = static_cast<T>(s[1]);
  T c = static_cast<T>(s[2]);
  results[0] =
      static_cast<std::make_unsigned_t<T>>(Op::apply(instruction, a, b, c));
}

template <typename Op>
LaneFunction forIntegers(Type type) {
  bool isSignedType = isSigned(type);
  switch (isFloat(type) ? 0 : getBits(type)) {
  case 8:
    return isSignedType ? onIntegers<Op, int8_t> : onIntegers<Op, uint8_t>;
  case 16:
    return isSignedType ? onIntegers<Op, int16_t> : onIntegers<Op, uint16_t>;
  case 32:
    return isSignedType ? onIntegers<Op, int32_t> : onIntegers<Op, uint32_t>;
  case 64:
    return isSignedType ? onIntegers<Op, int64_t> : onIntegers<Op, uint64_t>;
  default:
    return nullptr;
  }
}

/// The number of a half, or of the whole word if the type is no pair.
template <typename Op>
Word onFloat(const Instruction &instruction, Type type, const Word *s) {
  double values[3];
  for (int i = 0; i < 3; ++i)
    values[i] = flushInput(type, loadFloat(type, s[i]), instruction);
  Inexact exact = Op::apply(instruction, values[0], values[1], values[2]);
  double result = type == Type::F64 ? roundToDouble(exact, instruction.rounding)
                                    : roundToOdd(exact);
  return storeFloat(type, result, instruction);
}

/// Operations on floats: `static Inexact apply(const Instruction &, double a,
/// double b, double c)`, like those on integers.
template <typename Op>
void onFloats(const Instruction &instruction, const Word *s, Word *results) {
  Type type = getElement(instruction.type);
  if (!isPair(instruction.type)) {
    results[0] = onFloat<Op>(instruction, type, s);
    return;
  }
  Word high[3] = {s[0] >> 16 & 0xFFFF, s[1] >> 16 & 0xFFFF,
                  s[2] >> 16 & 0xFFFF};
  Word low[3] = {s[0] & 0xFFFF, s[1] & 0xFFFF, s[2] & 0xFFFF};
  results[0] = onFloat<Op>(instruction, type, high) << 16 |
               onFloat<Op>(instruction, type, low);
}

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_LANES_H
