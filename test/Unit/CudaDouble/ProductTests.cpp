//===- ProductTests.cpp - Products of the double of cuBLASLt --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values: NumPy and PyTorch 2.15, of A = [[1, 2, 3], [4, 5, 6]] and
// B = [[1, 0], [2, 1], [0, -1]], with a bias for each row and GELU by tanh:
//
//   A @ B                         [[5, -1], [14, -1]]
//   gelu(A @ B / 4 + [[1], [-1]]) [[2.2227987, 0.5799606],
//                                  [2.4849157, -0.1322858]]
//
//===----------------------------------------------------------------------===//

#include "Faults.h"
#include "StreamTest.h"

#include <cublasLt.h>

using namespace cudadouble;

namespace {
class Products : public StreamTest {
protected:
  Products() {
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  }
  ~Products() override {
    for (cublasLtMatrixLayout_t layout : layouts)
      cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(description);
    cublasLtDestroy(handle);
  }

  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(description, attribute, &value,
                                             sizeof value),
              CUBLAS_STATUS_SUCCESS);
  }

  cublasLtMatrixLayout_t makeLayout(uint64_t rows, uint64_t columns,
                                    int64_t leading) {
    cublasLtMatrixLayoutCreate(&layouts.emplace_back(), CUDA_R_32F, rows,
                               columns, leading);
    int32_t order = CUBLASLT_ORDER_ROW;
    cublasLtMatrixLayoutSetAttribute(
        layouts.back(), CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order);
    return layouts.back();
  }

  /// d = alpha a b + beta d, of 2 x 3 and 3 x 2, row-major.
  cublasStatus_t multiply(const float *a, const float *b, float *d,
                          float alpha = 1, float beta = 0) {
    cublasLtMatrixLayout_t result = makeLayout(2, 2, 2);
    return cublasLtMatmul(handle, description, &alpha, a, makeLayout(2, 3, 3),
                          b, makeLayout(3, 2, 2), &beta, d, result, d, result,
                          nullptr, nullptr, 0, stream);
  }

  const Numbers left = {1, 2, 3, 4, 5, 6}, right = {1, 0, 2, 1, 0, -1};
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t description;
  std::vector<cublasLtMatrixLayout_t> layouts;
};
} // namespace

TEST_F(Products, AddToWhatIsThere) {
  float *d = upload({1, 2, 3, 4});
  EXPECT_EQ(multiply(upload(left), upload(right), d, 2, 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(download(d, 4), (Numbers{11, 0, 31, 2}));
  EXPECT_EQ(getFaults(), Faults());
}

// Column-major, as cuBLAS has it by itself: the transposes of all.
TEST_F(Products, AreByColumnsAndTransposed) {
  cublasLtMatrixLayout_t a, b, d;
  cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, 3, 2, 3);
  cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, 2, 3, 2);
  cublasLtMatrixLayoutCreate(&d, CUDA_R_32F, 2, 2, 2);
  layouts = {a, b, d};
  set<int32_t>(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set<int32_t>(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);
  float *result = upload({0, 0, 0, 0}), alpha = 1, beta = 0;
  EXPECT_EQ(cublasLtMatmul(handle, description, &alpha, upload(left), a,
                           upload(right), b, &beta, result, d, result, d,
                           nullptr, nullptr, 0, stream),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(download(result, 4), (Numbers{5, 14, -1, -1}));
}

TEST_F(Products, EndInABiasAndGelu) {
  // The auxiliary matrix has rows of at least 8.
  float *d = upload({0, 0, 0, 0}), *auxiliary = upload(Numbers(16));
  set<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
  set<void *>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, upload({1, -1}));
  set<void *>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, auxiliary);
  set<int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 8);
  EXPECT_EQ(multiply(upload(left), upload(right), d, 0.25F),
            CUBLAS_STATUS_SUCCESS);
  Numbers result = download(d, 4);
  Numbers expected = {2.2227987F, 0.5799606F, 2.4849157F, -0.1322858F};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(result[i], expected[i], 1e-6F);
  EXPECT_EQ(download(auxiliary, 10)[8], 2.5F);
  EXPECT_EQ(getFaults(), Faults());
}

TEST_F(Products, EndInTheGradientOfABias) {
  float *d = upload({0, 0, 0, 0}), *bias = upload({0, 0});
  set<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BGRADB);
  set<void *>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  EXPECT_EQ(multiply(upload(left), upload(right), d), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(download(bias, 2), (Numbers{3, 0}));
}

TEST_F(Products, RefuseWhatDoesNotFit) {
  float *d = upload({0, 0, 0, 0}), alpha = 1, beta = 0;
  cublasLtMatrixLayout_t square = makeLayout(2, 2, 2);
  EXPECT_EQ(cublasLtMatmul(handle, description, &alpha, d, square, d,
                           makeLayout(3, 2, 2), &beta, d, square, d, square,
                           nullptr, nullptr, 0, stream),
            CUBLAS_STATUS_NOT_SUPPORTED);
  // GELU's operand without a place.
  set<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX);
  EXPECT_EQ(multiply(upload(left), upload(right), d),
            CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_F(Products, RaceWithOtherStreams) {
  float *a = upload(left), *b = upload(right), *d = upload({0, 0, 0, 0});
  EXPECT_EQ(multiply(a, b, d), CUBLAS_STATUS_SUCCESS);
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaMemsetAsync(b, 0, 4, other);
  EXPECT_TRUE(has(getFaults(), "race"));
}
