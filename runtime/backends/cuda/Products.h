//===- Products.h - How cuBLASLt computes products --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a product is computed is looked up once for each shape. It does not
// depend on the micro-batch, nor do the bits of a result.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_PRODUCTS_H
#define PPRT_BACKENDS_CUDA_PRODUCTS_H

#include "Plans.h"

#include <string>

namespace pprt::cuda {

/// `batch` products of op(a), m x k, and op(b), k x n; strides in elements.
struct ProductShape {
  cudaDataType operand, result;
  int64_t batch, m, n, k;
  int64_t strideA, strideB, strideC;
  bool transposeA, transposeB;
  /// Powers of two, in bytes.
  uint32_t alignmentA, alignmentB, alignmentC;
  /// What the library does to the product in the same call; of its rows and
  /// columns, which are our columns and rows.
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;

  void setAlignments(const void *a, const void *b, const void *c);
  /// Makes one product of many with the same right operand, if the left ones
  /// lie one below the other.
  void foldBatch();
  bool hasBias() const;
  bool hasAuxiliary() const;
  std::string describe() const;
  auto tie() const {
    return std::tie(operand, result, batch, m, n, k, strideA, strideB, strideC,
                    transposeA, transposeB, alignmentA, alignmentB, alignmentC,
                    epilogue);
  }
};

using ProductKey = PlanKey<ProductShape>;

/// What a product is of. Bias and the auxiliary matrix are there if the
/// epilogue has them, and begin at multiples of 64.
struct ProductBuffers {
  const void *a, *b;
  void *c;
  void *bias = nullptr, *auxiliary = nullptr;
};

/// How one shape is computed.
class ProductPlan {
public:
  explicit ProductPlan(const ProductKey &key);
  ~ProductPlan();
  ProductPlan(const ProductPlan &) = delete;
  ProductPlan &operator=(const ProductPlan &) = delete;

  /// CUBLAS_STATUS_SUCCESS, or why the library does not compute the shape.
  cublasStatus_t getStatus() const { return status; }

  /// c = epilogue(alpha op(a) op(b) + beta c)
  cublasStatus_t run(float alpha, float beta,
                     const ProductBuffers &buffers) const;

private:
  void setEpilogue(const ProductShape &shape);
  void choose(const ProductKey &key);

  cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t a, b, c;
  cublasLtMatmulAlgo_t algorithm;
};

/// The plan for \p shape on the device of the calling thread.
const ProductPlan &getProductPlan(const ProductShape &shape);

/// Gives back how the products of all shapes are computed.
void forgetProducts();

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_PRODUCTS_H
