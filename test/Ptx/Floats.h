//===- Floats.h - Number formats and rounding -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic in the narrow formats is done in double and then rounded to the
// format. A sum, product or quotient in double that is not exact is rounded to
// odd, so that the second rounding is right in every mode and format of at
// most 51 bits: S. Boldo, G. Melquiond, "Emulation of FMA and correctly
// rounded sums: proved algorithms using rounding to odd", IEEE Transactions on
// Computers 57(4), 2008.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_FLOATS_H
#define PIPEWRIGHT_TEST_PTX_FLOATS_H

#include "Ptx/Program.h"

namespace pipewright::ptx {

/// A binary format: a sign, exponent bits and mantissa bits.
struct FloatFormat {
  int exponentBits;
  int mantissaBits;
  /// Without, the largest exponent holds numbers, and NaN has all bits set.
  bool hasInfinity = true;
};

inline constexpr FloatFormat float16{5, 10};
inline constexpr FloatFormat bfloat16{8, 7};
inline constexpr FloatFormat tfloat32{8, 10};
inline constexpr FloatFormat float32{8, 23};
inline constexpr FloatFormat e4m3{4, 3, /*hasInfinity=*/false};
inline constexpr FloatFormat e5m2{5, 2};

/// The bits of \p value in a format; NaN becomes the canonical NaN, all bits
/// below the sign set. With \p saturate, what is too large becomes the largest
/// number.
Word encodeFloat(double value, FloatFormat format,
                 Rounding rounding = Rounding::NearestEven,
                 bool saturate = false);
double decodeFloat(Word bits, FloatFormat format);

/// The value of a number of type F16, BF16, F32 or F64.
double loadFloat(Type type, Word bits);
/// Rounds \p value to one of these types as the instruction says, which may
/// flush subnormal results and clamp to [0, 1].
Word storeFloat(Type type, double value, const Instruction &instruction);

/// A subnormal number of the type as zero, if the instruction flushes them.
double flushInput(Type type, double value, const Instruction &instruction);

/// A result in double and what the exact one is more than it: only the sign of
/// the error counts, and whether there is one.
struct Inexact {
  double value;
  double error = 0;
};

Inexact addExactly(double a, double b);
Inexact multiplyExactly(double a, double b);
Inexact divideExactly(double a, double b);
Inexact takeRootExactly(double a);
/// a * b + c. If the product is not exact in double, the error is not known,
/// and the result is to be rounded to nearest.
Inexact multiplyAddExactly(double a, double b, double c);

/// The result rounded to odd, to be rounded again to a narrower format.
double roundToOdd(Inexact result);
/// The result rounded to double. \p rounding is not NearestAway.
double roundToDouble(Inexact result, Rounding rounding);

/// \p value rounded to an integer.
double roundToIntegral(double value, Rounding rounding);

/// An integer as a double whose last bit is odd where bits are lost.
double integerToOdd(uint64_t magnitude, bool negative);

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_FLOATS_H
