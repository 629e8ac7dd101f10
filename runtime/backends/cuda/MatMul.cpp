//===- MatMul.cpp - Matrix products on cuBLASLt ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library has matrices by columns, which are the transposes of ours: so it
// is asked for the transposed result, of the operands in the other order.
//
// How a product is computed is looked up once for each shape. It does not
// depend on the micro-batch, nor do the bits of a result.
//
//===----------------------------------------------------------------------===//

#include "MatMul.h"
#include "Plans.h"
#include "Stream.h"
#include "pprt/Cuda.h"

#include <algorithm>
#include <tuple>

using namespace pprt;
using namespace pprt::cuda;

namespace {
/// `batch` products of op(a), m x k, and op(b), k x n; strides in elements.
struct Shape {
  cudaDataType operand, result;
  int64_t batch, m, n, k;
  int64_t strideA, strideB, strideC;
  bool transposeA, transposeB;
  /// Powers of two, in bytes.
  uint32_t alignmentA, alignmentB, alignmentC;

  /// Makes one product of many with the same right operand, if the left ones
  /// lie one below the other.
  void foldBatch() {
    if (!transposeA && strideB == 0 && strideA == m * k && strideC == m * n) {
      m *= batch;
      batch = 1;
    }
    if (batch == 1)
      strideA = strideB = strideC = 0;
  }

  std::string describe() const;
};

/// A shape, and what else decides how it is computed.
struct Key {
  Shape shape;
  int chip;
  uint64_t workspaceBytes;
  bool allowsTf32;

  bool operator<(const Key &other) const { return tie() < other.tie(); }

private:
  std::tuple<cudaDataType, cudaDataType, int64_t, int64_t, int64_t, int64_t,
             int64_t, int64_t, int64_t, bool, bool, uint32_t, uint32_t,
             uint32_t, int, uint64_t, bool>
  tie() const {
    const Shape &s = shape;
    return {s.operand,    s.result,     s.batch,      s.m,
            s.n,          s.k,          s.strideA,    s.strideB,
            s.strideC,    s.transposeA, s.transposeB, s.alignmentA,
            s.alignmentB, s.alignmentC, chip,         workspaceBytes,
            allowsTf32};
  }
};

/// How one shape is computed.
class Plan {
public:
  explicit Plan(const Key &key);
  ~Plan();
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;

  /// c = alpha op(a) op(b) + beta c
  void run(float alpha, const void *a, const void *b, float beta,
           void *c) const;

private:
  void choose(const Key &key);

  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t a, b, c;
  cublasLtMatmulAlgo_t algorithm;
};
} // namespace

static const char *getName(cudaDataType type) {
  return type == CUDA_R_32F ? "f32" : type == CUDA_R_16F ? "f16" : "bf16";
}

std::string Shape::describe() const {
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

Plan::Plan(const Key &key) {
  const Shape &s = key.shape;
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
  choose(key);
}

Plan::~Plan() {
  for (cublasLtMatrixLayout_t layout : {a, b, c})
    cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(product);
}

void Plan::choose(const Key &key) {
  cublasLtMatmulPreference_t wish;
  check(cublasLtMatmulPreferenceCreate(&wish), cannotDescribe);
  const Shape &s = key.shape;
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
  cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(getComputeStream().library, product, b, a,
                                     c, c, wish, most, results, &count);
  check(cublasLtMatmulPreferenceDestroy(wish), cannotDescribe);
  for (int i = 0; status == CUBLAS_STATUS_SUCCESS && i < count; ++i) {
    if (results[i].state == CUBLAS_STATUS_SUCCESS &&
        results[i].workspaceSize <= key.workspaceBytes) {
      algorithm = results[i].algo;
      return;
    }
  }
  fail(ExitCode::Data, "cuBLASLt does not compute " + s.describe() + ": " +
                           cublasLtGetStatusString(status));
}

void Plan::run(float alpha, const void *left, const void *right, float beta,
               void *result) const {
  const ComputeStream &to = getComputeStream();
  check(cublasLtMatmul(to.library, product, &alpha, right, b, left, a, &beta,
                       result, c, result, c, &algorithm, to.workspace,
                       to.workspaceBytes, to.stream),
        "cannot compute a matrix product");
}

static Plans<Key, Plan> &getPlans() {
  static Plans<Key, Plan> plans;
  return plans;
}

void cuda::forgetProducts() { getPlans().forget(); }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The alignment of an address. Buffers begin at multiples of 64, so it is the
/// same for all micro-batches up to there.
static uint32_t getAlignment(const void *data) {
  constexpr uintptr_t most = 64;
  auto address = reinterpret_cast<uintptr_t>(data) | most;
  return address & -address;
}

static void multiply(Shape shape, const void *a, const void *b, void *c,
                     bool accumulate) {
  if (shape.batch == 0 || shape.m == 0 || shape.n == 0)
    return;
  shape.alignmentA = getAlignment(a);
  shape.alignmentB = getAlignment(b);
  shape.alignmentC = getAlignment(c);
  shape.foldBatch();
  const Plan &plan = getPlans().get(shape);
  if (getComputeStream().preparing)
    plan.run(/*alpha=*/0, a, b, /*beta=*/1, c);
  else
    plan.run(/*alpha=*/1, a, b, accumulate ? 1 : 0, c);
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
