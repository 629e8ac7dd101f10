//===- Products.cpp - How cuBLASLt computes products ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library has matrices by columns, which are the transposes of ours: so it
// is asked for the transposed result, of the operands in the other order.
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include <algorithm>

using namespace pprt;
using namespace pprt::cuda;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The alignment of an address. Buffers begin at multiples of 64, so it is the
/// same for all micro-batches up to there.
static uint32_t getAlignment(const void *data) {
  constexpr uintptr_t most = 64;
  auto address = reinterpret_cast<uintptr_t>(data) | most;
  return address & -address;
}

void ProductShape::setAlignments(const void *a, const void *b, const void *c) {
  alignmentA = getAlignment(a);
  alignmentB = getAlignment(b);
  alignmentC = getAlignment(c);
}

void ProductShape::foldBatch() {
  if (!transposeA && strideB == 0 && strideA == m * k && strideC == m * n) {
    m *= batch;
    batch = 1;
  }
  if (batch == 1)
    strideA = strideB = strideC = 0;
}

bool ProductShape::hasBias() const {
  return epilogue & (CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_BGRADA |
                     CUBLASLT_EPILOGUE_BGRADB);
}

bool ProductShape::hasAuxiliary() const {
  constexpr uint32_t bit = CUBLASLT_EPILOGUE_GELU_AUX ^ CUBLASLT_EPILOGUE_GELU;
  return epilogue & bit;
}

static const char *getName(cudaDataType type) {
  return type == CUDA_R_32F ? "f32" : type == CUDA_R_16F ? "f16" : "bf16";
}

std::string ProductShape::describe() const {
  auto matrix = [](int64_t rows, int64_t columns) {
    return std::to_string(rows) + " x " + std::to_string(columns);
  };
  std::string text = std::to_string(batch) + " product(s) of " +
                     getName(operand) + ", " + matrix(m, k) + " by " +
                     matrix(k, n) + ", with a result of " + getName(result);
  if (transposeA)
    text += ", the left one transposed";
  if (transposeB)
    text += ", the right one transposed";
  return text + ", at addresses that are multiples of " +
         std::to_string(alignmentA) + ", " + std::to_string(alignmentB) +
         " and " + std::to_string(alignmentC);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static constexpr const char *cannotDescribe =
    "cannot describe a matrix product to cuBLASLt";

template <typename T>
static void set(cublasLtMatrixLayout_t layout,
                cublasLtMatrixLayoutAttribute_t attribute, T value) {
  check(
      cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof value),
      cannotDescribe);
}

template <typename T>
static void set(cublasLtMatmulDesc_t product,
                cublasLtMatmulDescAttributes_t attribute, T value) {
  check(
      cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof value),
      cannotDescribe);
}

template <typename T>
static void set(cublasLtMatmulPreference_t preference,
                cublasLtMatmulPreferenceAttributes_t attribute, T value) {
  check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value,
                                             sizeof value),
        cannotDescribe);
}

/// Of matrices by rows, \p rows x \p columns: by columns they are transposed.
static cublasLtMatrixLayout_t makeLayout(cudaDataType type, int64_t rows,
                                         int64_t columns, int64_t batch,
                                         int64_t stride) {
  cublasLtMatrixLayout_t layout;
  check(cublasLtMatrixLayoutCreate(&layout, type, columns, rows, columns),
        cannotDescribe);
  if (batch == 1)
    return layout;
  set<int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch);
  set<int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  return layout;
}

static int32_t getOperation(bool transposes) {
  return transposes ? CUBLAS_OP_T : CUBLAS_OP_N;
}

ProductPlan::ProductPlan(const ProductKey &key) {
  const ProductShape &s = key.shape;
  cublasComputeType_t compute = s.operand == CUDA_R_32F && key.allowsTf32
                                    ? CUBLAS_COMPUTE_32F_FAST_TF32
                                    : CUBLAS_COMPUTE_32F;
  check(cublasLtMatmulDescCreate(&product, compute, CUDA_R_32F),
        cannotDescribe);
  set(product, CUBLASLT_MATMUL_DESC_TRANSA, getOperation(s.transposeB));
  set(product, CUBLASLT_MATMUL_DESC_TRANSB, getOperation(s.transposeA));
  a = makeLayout(s.operand, s.transposeA ? s.k : s.m, s.transposeA ? s.m : s.k,
                 s.batch, s.strideA);
  b = makeLayout(s.operand, s.transposeB ? s.n : s.k, s.transposeB ? s.k : s.n,
                 s.batch, s.strideB);
  c = makeLayout(s.result, s.m, s.n, s.batch, s.strideC);
  if (s.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    setEpilogue(s);
  choose(key);
}

/// The pointers are those of each call; that they are aligned as these here is
/// all that is asked of them now.
void ProductPlan::setEpilogue(const ProductShape &shape) {
  auto *anywhere = reinterpret_cast<void *>(uintptr_t(64));
  set<uint32_t>(product, CUBLASLT_MATMUL_DESC_EPILOGUE, shape.epilogue);
  if (shape.hasBias())
    set(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, anywhere);
  if (!shape.hasAuxiliary())
    return;
  set(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, anywhere);
  set<int64_t>(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, shape.n);
}

ProductPlan::~ProductPlan() {
  for (cublasLtMatrixLayout_t layout : {a, b, c})
    cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(product);
}

void ProductPlan::choose(const ProductKey &key) {
  cublasLtMatmulPreference_t wish;
  check(cublasLtMatmulPreferenceCreate(&wish), cannotDescribe);
  const ProductShape &s = key.shape;
  set<uint64_t>(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                key.workspaceBytes);
  set(wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, s.alignmentB);
  set(wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, s.alignmentA);
  set(wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, s.alignmentC);
  set(wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, s.alignmentC);
  // Parts of a sum may not be rounded to 16 bits.
  set<uint32_t>(wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
  // Not all that are found can run.
  constexpr int most = 8;
  cublasLtMatmulHeuristicResult_t results[most];
  int count = 0;
  cublasStatus_t found =
      cublasLtMatmulAlgoGetHeuristic(getComputeStream().library, product, b, a,
                                     c, c, wish, most, results, &count);
  check(cublasLtMatmulPreferenceDestroy(wish), cannotDescribe);
  if (found != CUBLAS_STATUS_SUCCESS) {
    status = found;
    return;
  }
  for (int i = 0; i < count; ++i) {
    if (results[i].state == CUBLAS_STATUS_SUCCESS &&
        results[i].workspaceSize <= key.workspaceBytes) {
      algorithm = results[i].algo;
      status = CUBLAS_STATUS_SUCCESS;
      return;
    }
  }
}

cublasStatus_t ProductPlan::run(float alpha, float beta,
                                const ProductBuffers &buffers) const {
  // Of this call alone: other threads compute the same shape.
  cublasLtMatmulDescOpaque_t call = *product;
  if (buffers.bias)
    set(&call, CUBLASLT_MATMUL_DESC_BIAS_POINTER, buffers.bias);
  if (buffers.auxiliary)
    set(&call, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, buffers.auxiliary);
  const ComputeStream &to = getComputeStream();
  return cublasLtMatmul(to.library, &call, &alpha, buffers.b, b, buffers.a, a,
                        &beta, buffers.c, c, buffers.c, c, &algorithm,
                        to.workspace, to.workspaceBytes, to.stream);
}

static Plans<ProductShape, ProductPlan> &getPlans() {
  static Plans<ProductShape, ProductPlan> plans;
  return plans;
}

const ProductPlan &cuda::getProductPlan(const ProductShape &shape) {
  return getPlans().get(shape);
}

void cuda::forgetProducts() { getPlans().forget(); }
