//===- MatMul.cpp - Matrix products on oneDNN -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pprt/Descriptor.h"

#include <oneapi/dnnl/dnnl.h>

/// Below this many multiplications a call of the library costs more than the
/// product. The choice depends on the shape alone, so the bits do too.
static constexpr int64_t tinyProduct = 512;

static void multiplyTiny(const float *a, const float *b, float *c, int64_t m,
                         int64_t n, int64_t k, bool transposeA, bool transposeB,
                         bool accumulate) {
  int64_t rowA = transposeA ? 1 : k, columnA = transposeA ? m : 1;
  int64_t rowB = transposeB ? 1 : n, columnB = transposeB ? k : 1;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += a[i * rowA + l * columnA] * b[l * rowB + j * columnB];
      c[i * n + j] = accumulate ? c[i * n + j] + sum : sum;
    }
  }
}

void pprtCpuMatmulF32(const float *a, const float *b, float *c, int64_t batch,
                      int64_t m, int64_t n, int64_t k, int64_t strideA,
                      int64_t strideB, int64_t strideC, int32_t transposeA,
                      int32_t transposeB, int32_t accumulate) {
  bool tiny = m * n * k <= tinyProduct;
  for (int64_t i = 0; i < batch; ++i) {
    const float *left = a + i * strideA;
    const float *right = b + i * strideB;
    float *result = c + i * strideC;
    if (tiny) {
      multiplyTiny(left, right, result, m, n, k, transposeA, transposeB,
                   accumulate);
      continue;
    }
    // Fails only for negative sizes, which the compiler does not make.
    (void)dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k,
                     /*alpha=*/1.0f, left, transposeA ? m : k, right,
                     transposeB ? k : n, /*beta=*/accumulate ? 1.0f : 0.0f,
                     result, n);
  }
}
