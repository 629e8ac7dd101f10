//===- IntegerDecoders.h - Names that floats share --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decoders of add.s32 and the like, for the table's entry of add, which
// chooses by the type.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_INTEGERDECODERS_H
#define PIPEWRIGHT_TEST_PTX_INTEGERDECODERS_H

#include "Ptx/Opcodes.h"

namespace pipewright::ptx {

bool decodeIntegerAdd(Modifiers &modifiers, Instruction &instruction);
bool decodeIntegerSubtract(Modifiers &modifiers, Instruction &instruction);
bool decodeIntegerMultiply(Modifiers &modifiers, Instruction &instruction);
bool decodeIntegerMultiplyAdd(Modifiers &modifiers, Instruction &instruction);
bool decodeIntegerDivide(Modifiers &modifiers, Instruction &instruction);
bool decodeIntegerMinimum(Modifiers &modifiers, Instruction &instruction);
bool decodeIntegerMaximum(Modifiers &modifiers, Instruction &instruction);
bool decodeIntegerAbsolute(Modifiers &modifiers, Instruction &instruction);
bool decodeIntegerNegate(Modifiers &modifiers, Instruction &instruction);

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_INTEGERDECODERS_H
