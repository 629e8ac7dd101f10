//===- Experts.cpp - Rows that each have one of several matrices ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of an expert are copied together and multiplied as one matrix, so
// an expert without rows costs nothing. (Gale et al., arXiv:2211.15841; Tan et
// al., arXiv:2403.08245)
//
//===----------------------------------------------------------------------===//

#include "pprt/Descriptor.h"

#include <algorithm>
#include <cstring>

namespace {
/// Whose row is whose.
struct Rows {
  const int64_t *experts;
  int64_t count, expertCount;

  /// The expert of a row: one that there is not, if its number names none.
  int64_t getExpert(int64_t row) const {
    int64_t number = experts[row];
    return number < 0 ? number + expertCount : number;
  }
  bool hasExpert(int64_t row) const {
    int64_t expert = getExpert(row);
    return expert >= 0 && expert < expertCount;
  }
};
} // namespace

/// Copies the rows of \p expert, of \p width elements, together and returns how
/// many they are.
template <typename ElementTy>
static int64_t packRows(const Rows &rows, int64_t expert, const ElementTy *from,
                        int64_t width, ElementTy *to) {
  int64_t packed = 0;
  for (int64_t row = 0; row < rows.count; ++row)
    if (rows.getExpert(row) == expert)
      memcpy(to + packed++ * width, from + row * width, width * sizeof *to);
  return packed;
}

template <typename ElementTy>
static void unpackRows(const Rows &rows, int64_t expert, const ElementTy *from,
                       int64_t width, ElementTy *to) {
  for (int64_t row = 0; row < rows.count; ++row)
    if (rows.getExpert(row) == expert) {
      memcpy(to + row * width, from, width * sizeof *to);
      from += width;
    }
}

/// Zero in every type is all bits zero.
template <typename ElementTy>
static void clear(ElementTy *elements, int64_t count) {
  memset(elements, 0, count * sizeof *elements);
}

/// Rounds a number of rows up to one of eight for each power of two. The
/// library makes a kernel for each shape of 16-bit matrices, and how many rows
/// an expert has changes all the time.
template <typename ElementTy>
static int64_t roundUp(int64_t packed, int64_t limit) {
  if (sizeof(ElementTy) > sizeof(uint16_t))
    return packed;
  int64_t step = 1;
  while (16 * step <= packed)
    step *= 2;
  return std::min((packed + step - 1) / step * step, limit);
}

/// \p multiply is the kernel for one product.
template <auto multiply, typename OperandTy, typename ResultTy>
static void multiplyRows(const OperandTy *a, const OperandTy *b, ResultTy *c,
                         OperandTy *packedA, ResultTy *packedC,
                         const Rows &rows, int64_t m, int64_t n,
                         int32_t transposeB) {
  for (int64_t row = 0; row < rows.count; ++row)
    if (!rows.hasExpert(row))
      clear(c + row * n, n);
  for (int64_t expert = 0; expert < rows.expertCount; ++expert) {
    int64_t packed = packRows(rows, expert, a, m, packedA);
    if (packed == 0)
      continue;
    int64_t rounded = roundUp<OperandTy>(packed, rows.count);
    clear(packedA + packed * m, (rounded - packed) * m);
    multiply(packedA, b + expert * m * n, packedC, /*batch=*/1, rounded, n, m,
             0, 0, 0, /*transposeA=*/0, transposeB, /*accumulate=*/0);
    unpackRows(rows, expert, packedC, n, c);
  }
}

template <auto multiply, typename OperandTy, typename ResultTy>
static void sumOuterProducts(const OperandTy *a, const OperandTy *b,
                             ResultTy *c, OperandTy *packedA,
                             OperandTy *packedB, const Rows &rows, int64_t m,
                             int64_t n, int32_t accumulate) {
  for (int64_t expert = 0; expert < rows.expertCount; ++expert) {
    ResultTy *sum = c + expert * m * n;
    int64_t packed = packRows(rows, expert, a, m, packedA);
    if (packed == 0 && !accumulate)
      clear(sum, m * n);
    if (packed == 0)
      continue;
    packRows(rows, expert, b, n, packedB);
    int64_t rounded = roundUp<OperandTy>(packed, rows.count);
    clear(packedA + packed * m, (rounded - packed) * m);
    clear(packedB + packed * n, (rounded - packed) * n);
    multiply(packedA, packedB, sum, /*batch=*/1, m, n, rounded, 0, 0, 0,
             /*transposeA=*/1, /*transposeB=*/0, accumulate);
  }
}

#define PPRT_DEFINE_EXPERTS(TYPES, OPERAND, RESULT)                            \
  void pprtCpuExpertMatmul##TYPES(                                             \
      const OPERAND *a, const OPERAND *b, const int64_t *experts, RESULT *c,   \
      OPERAND *packedA, RESULT *packedC, int64_t rows, int64_t expertCount,    \
      int64_t m, int64_t n, int32_t transposeB) {                              \
    multiplyRows<pprtCpuMatmul##TYPES>(a, b, c, packedA, packedC,              \
                                       {experts, rows, expertCount}, m, n,     \
                                       transposeB);                            \
  }                                                                            \
  void pprtCpuExpertOuter##TYPES(                                              \
      const OPERAND *a, const OPERAND *b, const int64_t *experts, RESULT *c,   \
      OPERAND *packedA, OPERAND *packedB, int64_t rows, int64_t expertCount,   \
      int64_t m, int64_t n, int32_t accumulate) {                              \
    sumOuterProducts<pprtCpuMatmul##TYPES>(a, b, c, packedA, packedB,          \
                                           {experts, rows, expertCount}, m, n, \
                                           accumulate);                        \
  }
PPRT_DEFINE_EXPERTS(F32, float, float)
PPRT_DEFINE_EXPERTS(BF16, uint16_t, uint16_t)
PPRT_DEFINE_EXPERTS(BF16F32, uint16_t, float)
PPRT_DEFINE_EXPERTS(F16, uint16_t, uint16_t)
PPRT_DEFINE_EXPERTS(F16F32, uint16_t, float)
#undef PPRT_DEFINE_EXPERTS
