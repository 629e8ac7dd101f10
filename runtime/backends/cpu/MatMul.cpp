//===- MatMul.cpp - Matrix products on oneDNN -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pprt/Descriptor.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cstring>
#include <memory>

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

static void multiply(const float *a, const float *b, float *c, int64_t m,
                     int64_t n, int64_t k, bool transposeA, bool transposeB,
                     bool accumulate, int64_t rowB, int64_t rowC) {
  // Fails only for negative sizes, which the compiler does not make.
  (void)dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k,
                   /*alpha=*/1.0f, a, transposeA ? m : k, b, rowB,
                   /*beta=*/accumulate ? 1.0f : 0.0f, c, rowC);
}

namespace {
/// Products whose right operand has rows that are a multiple of 1 KiB. The
/// library goes down its columns, and all that it finds there falls into a few
/// sets of the first cache, which cannot hold it. So some columns after the
/// other are copied to rows of another length: that takes a twentieth of the
/// time, and halves it at best. If the left operand is transposed, the library
/// copies on its own.
class CopiedColumns {
public:
  static bool areWorthIt(int64_t m, int64_t n, int64_t k) {
    return n % 256 == 0 && m >= 64 && k >= 32 && getColumns(k) >= 32;
  }

  static void multiply(const float *a, const float *b, float *c, int64_t m,
                       int64_t n, int64_t k, bool accumulate) {
    // Of each rank's thread, and not on its stack, where the system would put
    // so large a variable of a thread.
    static thread_local auto buffer = std::make_unique<Copy>();
    float *copy = buffer->values;
    int64_t most = getColumns(k), row = most + padding;
    for (int64_t first = 0; first < n; first += most) {
      int64_t columns = std::min(most, n - first);
      for (int64_t l = 0; l < k; ++l)
        memcpy(copy + l * row, b + l * n + first, columns * sizeof(float));
      ::multiply(a, copy, c + first, m, columns, k, /*transposeA=*/false,
                 /*transposeB=*/false, accumulate, row, n);
    }
  }

private:
  /// As many as there is room for, in whole vectors.
  static int64_t getColumns(int64_t k) {
    return std::min<int64_t>(128, (capacity / k - padding) / padding * padding);
  }

  static constexpr int64_t capacity = 256 << 10; // 1 MiB
  static constexpr int64_t padding = 16;         // a cache line
  struct alignas(64) Copy {
    float values[capacity];
  };
};

} // namespace

void pprtCpuMatmulF32(const float *a, const float *b, float *c, int64_t batch,
                      int64_t m, int64_t n, int64_t k, int64_t strideA,
                      int64_t strideB, int64_t strideC, int32_t transposeA,
                      int32_t transposeB, int32_t accumulate) {
  bool tiny = m * n * k <= tinyProduct;
  bool copied =
      !transposeA && !transposeB && CopiedColumns::areWorthIt(m, n, k);
  for (int64_t i = 0; i < batch; ++i) {
    const float *left = a + i * strideA;
    const float *right = b + i * strideB;
    float *result = c + i * strideC;
    if (tiny) {
      multiplyTiny(left, right, result, m, n, k, transposeA, transposeB,
                   accumulate);
      continue;
    }
    if (copied)
      CopiedColumns::multiply(left, right, result, m, n, k, accumulate);
    else
      multiply(left, right, result, m, n, k, transposeA, transposeB, accumulate,
               transposeB ? k : n, n);
  }
}
