//===- MatMul.cpp - Matrix products ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"
#include "pprt/Cuda.h"

using namespace pprt;
using namespace pprt::cuda;

static void multiply(ProductShape shape, const void *a, const void *b, void *c,
                     bool accumulate) {
  if (shape.batch == 0 || shape.m == 0 || shape.n == 0)
    return;
  shape.setAlignments(a, b, c);
  shape.foldBatch();
  const ProductPlan &plan = getProductPlan(shape);
  if (plan.getStatus() != CUBLAS_STATUS_SUCCESS)
    fail(ExitCode::Data, "cuBLASLt does not compute " + shape.describe() +
                             ": " + cublasLtGetStatusString(plan.getStatus()));
  bool preparing = getComputeStream().preparing;
  check(plan.run(/*alpha=*/preparing ? 0 : 1,
                 /*beta=*/preparing || accumulate ? 1 : 0, {a, b, c}),
        "cannot compute a matrix product");
}

#define PPRT_DEFINE_MATMUL(TYPES, OPERAND, RESULT, OPERAND_TYPE, RESULT_TYPE)  \
  void pprtCudaMatmul##TYPES(                                                  \
      const OPERAND *a, const OPERAND *b, RESULT *c, int64_t batch, int64_t m, \
      int64_t n, int64_t k, int64_t strideA, int64_t strideB, int64_t strideC, \
      int32_t transposeA, int32_t transposeB, int32_t accumulate) {            \
    multiply({OPERAND_TYPE, RESULT_TYPE, batch, m, n, k, strideA, strideB,     \
              strideC, transposeA != 0, transposeB != 0, 0, 0, 0},             \
             a, b, c, accumulate != 0);                                        \
  }
PPRT_DEFINE_MATMUL(F32, float, float, CUDA_R_32F, CUDA_R_32F)
PPRT_DEFINE_MATMUL(BF16, uint16_t, uint16_t, CUDA_R_16BF, CUDA_R_16BF)
PPRT_DEFINE_MATMUL(BF16F32, uint16_t, float, CUDA_R_16BF, CUDA_R_32F)
PPRT_DEFINE_MATMUL(F16, uint16_t, uint16_t, CUDA_R_16F, CUDA_R_16F)
PPRT_DEFINE_MATMUL(F16F32, uint16_t, float, CUDA_R_16F, CUDA_R_32F)
#undef PPRT_DEFINE_MATMUL
