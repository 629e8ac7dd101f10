//===- MatMul16.h - Products of matrices of 16-bit floats -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CPU_MATMUL16_H
#define PPRT_BACKENDS_CPU_MATMUL16_H

#include "core/Half.h"

#include <tuple>

namespace pprt {

/// `batch` products of op(a), m x k, and op(b), k x n, row-major, where op
/// transposes or not. Strides between batches are in elements; 0 repeats one
/// matrix.
struct MatMulShape {
  int64_t batch, m, n, k;
  int64_t strideA, strideB, strideC;
  bool transposeA, transposeB;
  bool accumulate;

  bool operator<(const MatMulShape &other) const {
    auto key = [](const MatMulShape &s) {
      return std::tuple(s.batch, s.m, s.n, s.k, s.strideA, s.strideB, s.strideC,
                        s.transposeA, s.transposeB, s.accumulate);
    };
    return key(*this) < key(other);
  }
};

/// By a kernel of oneDNN, made once for each shape; false if it has none for
/// this processor. Operands are bf16, or f32 with a result of f32.
template <typename OperandTy, typename ResultTy>
bool multiplyByLibrary(const MatMulShape &shape, const OperandTy *a,
                       const OperandTy *b, ResultTy *c);

/// Converts blocks of the operands to f32 and multiplies these. The blocks are
/// those of the shape, so sums have one order on every processor.
template <typename OperandTy, typename ResultTy>
void multiplyByConversion(const MatMulShape &shape, const OperandTy *a,
                          const OperandTy *b, ResultTy *c);

} // namespace pprt

#endif // PPRT_BACKENDS_CPU_MATMUL16_H
