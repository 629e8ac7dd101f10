//===- Numbers.h - Elements of any type -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_NUMBERS_H
#define CUDADOUBLE_NUMBERS_H

#include <cstddef>

namespace cudadouble {

enum class NumberType { F16, BF16, F32, F64, I32, I64 };

size_t getBytes(NumberType type);
/// Element \p index of an array; an integer of 64 bits is rounded.
double readNumber(const void *data, size_t index, NumberType type);
/// Rounds to the nearest number of the type, of two to the even one.
void writeNumber(void *data, size_t index, NumberType type, double value);
/// What is left of an f32 as an operand of TF32: 10 bits after the point.
double roundToTf32(double value);

} // namespace cudadouble

#endif // CUDADOUBLE_NUMBERS_H
