//===- CublasLtApi.cpp - The products of cuBLASLt -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D = epilogue(alpha op(A) op(B) + beta C), added up in f64. What the double
// does not know is refused as not supported, as the real library does for some
// of it.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Numbers.h"

#include <cmath>
#include <cstring>
#include <cublasLt.h>
#include <optional>

using namespace cudadouble;

static Machine &machine() { return Machine::get(); }

namespace {
/// What is behind cublasLtMatrixLayout_t, by the attributes' types.
struct Layout {
  cudaDataType type;
  int32_t order;
  uint64_t rows, columns;
  int64_t leading, batchStride;
  int32_t batches;
};
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));

/// What is behind cublasLtMatmulDesc_t.
struct Description {
  cublasComputeType_t compute;
  cudaDataType scaleType;
  int32_t transposeA, transposeB;
  uint32_t epilogue;
  void *bias, *auxiliary;
  int64_t biasStride, auxiliaryLeading, auxiliaryStride;
  int32_t biasType, auxiliaryType; ///< -1: as the result
};
static_assert(sizeof(Description) <= sizeof(cublasLtMatmulDescOpaque_t));

/// A matrix of a batch in memory.
struct Matrix {
  char *data;
  NumberType type;
  Layout layout;

  size_t getIndex(int64_t batch, uint64_t row, uint64_t column) const {
    bool isByRows = layout.order == CUBLASLT_ORDER_ROW;
    return batch * layout.batchStride + (isByRows
                                             ? row * layout.leading + column
                                             : column * layout.leading + row);
  }
  double get(int64_t batch, uint64_t row, uint64_t column) const {
    return readNumber(data, getIndex(batch, row, column), type);
  }
  void set(int64_t batch, uint64_t row, uint64_t column, double value) const {
    writeNumber(data, getIndex(batch, row, column), type, value);
  }
  /// Adds the bytes of each row or column, as they lie.
  void addAccesses(bool isWrite, std::vector<Access> &accesses) const {
    bool isByRows = layout.order == CUBLASLT_ORDER_ROW;
    uint64_t lines = isByRows ? layout.rows : layout.columns;
    uint64_t length = isByRows ? layout.columns : layout.rows;
    for (int64_t batch = 0; batch < layout.batches; ++batch)
      for (uint64_t line = 0; line < lines; ++line)
        accesses.push_back(
            {data + (batch * layout.batchStride + line * layout.leading) *
                        getBytes(type),
             length * getBytes(type), isWrite});
  }
};

/// A call of cublasLtMatmul, with host numbers read.
struct Product {
  Description description;
  double alpha, beta;
  Matrix a, b, c, d;
  /// Bias, its gradient, or what GELU was or will be computed of.
  std::optional<Matrix> bias, auxiliary;

  bool has(uint32_t bits) const {
    return (description.epilogue & bits) == bits;
  }
  Effects run() const;

private:
  double multiply(int64_t batch, uint64_t row, uint64_t column) const;
  double finish(int64_t batch, uint64_t row, uint64_t column,
                double value) const;
  void addGradients() const;
};
} // namespace

static std::optional<NumberType> getNumberType(int32_t type) {
  switch (type) {
  case CUDA_R_16F:
    return NumberType::F16;
  case CUDA_R_16BF:
    return NumberType::BF16;
  case CUDA_R_32F:
    return NumberType::F32;
  case CUDA_R_64F:
    return NumberType::F64;
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

static constexpr uint32_t reluBit = 2, biasBit = 4, geluGradientBit = 64,
                          geluBit = 32, biasGradientBit = 16,
                          auxiliaryBit = 128;

/// By tanh, as cuBLASLt does it.
static double gelu(double x) {
  double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return x / 2 * (1 + std::tanh(inner));
}

static double geluGradient(double x) {
  double root = std::sqrt(2 / M_PI);
  double t = std::tanh(root * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

static bool isKnown(uint32_t epilogue) {
  for (uint32_t known :
       {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU,
        CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS,
        CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS,
        CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
        CUBLASLT_EPILOGUE_DGELU, CUBLASLT_EPILOGUE_DGELU_BGRAD,
        CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB})
    if (epilogue == known)
      return true;
  return false;
}

double Product::multiply(int64_t batch, uint64_t row, uint64_t column) const {
  bool isTransposed = description.transposeA != CUBLAS_OP_N;
  uint64_t inner = isTransposed ? a.layout.rows : a.layout.columns;
  double sum = 0;
  for (uint64_t k = 0; k < inner; ++k) {
    double left = isTransposed ? a.get(batch, k, row) : a.get(batch, row, k);
    double right = description.transposeB != CUBLAS_OP_N
                       ? b.get(batch, column, k)
                       : b.get(batch, k, column);
    if (description.compute == CUBLAS_COMPUTE_32F_FAST_TF32)
      sum += roundToTf32(left) * roundToTf32(right);
    else
      sum += left * right;
  }
  return sum;
}

double Product::finish(int64_t batch, uint64_t row, uint64_t column,
                       double value) const {
  if (has(biasBit))
    value += bias->get(batch, row, 0);
  if (has(geluGradientBit))
    return value * geluGradient(auxiliary->get(batch, row, column));
  if (has(geluBit) && has(auxiliaryBit))
    auxiliary->set(batch, row, column, value);
  if (has(geluBit))
    return gelu(value);
  return has(reluBit) ? std::max(value, 0.0) : value;
}

/// Sums of the result's rows, or of an operand's.
void Product::addGradients() const {
  uint32_t epilogue = description.epilogue;
  bool isOfA = epilogue == CUBLASLT_EPILOGUE_BGRADA;
  bool isOfB = epilogue == CUBLASLT_EPILOGUE_BGRADB;
  const Matrix &summed = isOfA ? a : isOfB ? b : d;
  bool sumsColumns = isOfA   ? description.transposeA == CUBLAS_OP_N
                     : isOfB ? description.transposeB != CUBLAS_OP_N
                             : true;
  uint64_t count = sumsColumns ? summed.layout.rows : summed.layout.columns;
  uint64_t terms = sumsColumns ? summed.layout.columns : summed.layout.rows;
  for (int64_t batch = 0; batch < summed.layout.batches; ++batch)
    for (uint64_t i = 0; i < count; ++i) {
      double sum = 0;
      for (uint64_t j = 0; j < terms; ++j)
        sum += sumsColumns ? summed.get(batch, i, j) : summed.get(batch, j, i);
      bias->set(batch, i, 0, sum);
    }
}

Effects Product::run() const {
  Effects effects;
  a.addAccesses(/*isWrite=*/false, effects.accesses);
  b.addAccesses(/*isWrite=*/false, effects.accesses);
  if (beta != 0)
    c.addAccesses(/*isWrite=*/false, effects.accesses);
  for (int64_t batch = 0; batch < d.layout.batches; ++batch)
    for (uint64_t column = 0; column < d.layout.columns; ++column)
      for (uint64_t row = 0; row < d.layout.rows; ++row) {
        double value = alpha * multiply(batch, row, column);
        if (beta != 0)
          value += beta * c.get(batch, row, column);
        d.set(batch, row, column, finish(batch, row, column, value));
      }
  d.addAccesses(/*isWrite=*/true, effects.accesses);
  uint32_t epilogue = description.epilogue;
  bool sums = has(biasGradientBit) || epilogue == CUBLASLT_EPILOGUE_BGRADA ||
              epilogue == CUBLASLT_EPILOGUE_BGRADB;
  if (sums)
    addGradients();
  if (bias)
    bias->addAccesses(sums, effects.accesses);
  if (auxiliary)
    auxiliary->addAccesses(!has(geluGradientBit), effects.accesses);
  return effects;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static std::optional<Matrix> getMatrix(const void *data,
                                       cublasLtMatrixLayout_t opaque) {
  Layout layout;
  memcpy(&layout, opaque, sizeof layout);
  std::optional<NumberType> type = getNumberType(layout.type);
  bool isOrdered =
      layout.order == CUBLASLT_ORDER_COL || layout.order == CUBLASLT_ORDER_ROW;
  if (!type || !isOrdered)
    return std::nullopt;
  return Matrix{static_cast<char *>(const_cast<void *>(data)), *type, layout};
}

static bool fit(const Product &product) {
  auto swap = [](const Layout &layout, int32_t operation) {
    return operation == CUBLAS_OP_N ? std::pair(layout.rows, layout.columns)
                                    : std::pair(layout.columns, layout.rows);
  };
  auto [m, k] = swap(product.a.layout, product.description.transposeA);
  auto [k2, n] = swap(product.b.layout, product.description.transposeB);
  const Layout &d = product.d.layout, &c = product.c.layout;
  return k == k2 && k > 0 && m == d.rows && n == d.columns && c.rows == m &&
         c.columns == n && product.a.layout.batches == d.batches &&
         product.b.layout.batches == d.batches;
}

/// A vector that bias or its gradient is in.
static std::optional<Matrix> getBias(const Product &product) {
  const Description &description = product.description;
  int32_t type =
      description.biasType < 0 ? product.d.layout.type : description.biasType;
  std::optional<NumberType> number = getNumberType(type);
  if (!description.bias || !number)
    return std::nullopt;
  bool isOfB = description.epilogue == CUBLASLT_EPILOGUE_BGRADB;
  Layout layout = product.d.layout;
  layout.order = CUBLASLT_ORDER_COL;
  layout.rows = isOfB ? layout.columns : layout.rows;
  layout.columns = 1;
  layout.leading = static_cast<int64_t>(layout.rows);
  layout.batchStride = description.biasStride;
  return Matrix{static_cast<char *>(description.bias), *number, layout};
}

static std::optional<Matrix> getAuxiliary(const Product &product) {
  const Description &description = product.description;
  int32_t type = description.auxiliaryType < 0 ? product.d.layout.type
                                               : description.auxiliaryType;
  std::optional<NumberType> number = getNumberType(type);
  // As the real library wants it.
  bool isAligned = description.auxiliaryLeading % 8 == 0 &&
                   description.auxiliaryLeading >=
                       static_cast<int64_t>(product.d.layout.rows);
  if (!description.auxiliary || !number || !isAligned)
    return std::nullopt;
  Layout layout = product.d.layout;
  layout.leading = description.auxiliaryLeading;
  layout.batchStride = description.auxiliaryStride;
  return Matrix{static_cast<char *>(description.auxiliary), *number, layout};
}

/// Completes \p product; false if it is not supported.
static bool addEpilogue(Product &product) {
  uint32_t epilogue = product.description.epilogue;
  if (!isKnown(epilogue))
    return false;
  bool hasBias = product.has(biasBit) || product.has(biasGradientBit) ||
                 epilogue == CUBLASLT_EPILOGUE_BGRADA ||
                 epilogue == CUBLASLT_EPILOGUE_BGRADB;
  if (hasBias && !(product.bias = getBias(product)))
    return false;
  return !product.has(auxiliaryBit) ||
         (product.auxiliary = getAuxiliary(product));
}

/// Copies \p bytes to \p field if it has that size.
template <typename T>
static cublasStatus_t setField(T &field, const void *value, size_t bytes) {
  if (bytes != sizeof field)
    return CUBLAS_STATUS_INVALID_VALUE;
  memcpy(&field, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <typename OpaqueT>
static cublasStatus_t destroy(OpaqueT *opaque) {
  delete opaque;
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" {

const char *cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_SUCCESS:
    return "success";
  case CUBLAS_STATUS_INVALID_VALUE:
    return "an unsupported value or parameter was passed to the function";
  case CUBLAS_STATUS_NOT_SUPPORTED:
    return "the requested functionality is not supported";
  default:
    return "an error of cuBLASLt";
  }
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new int(0));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return destroy(reinterpret_cast<int *>(handle));
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *made,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  *made = new cublasLtMatrixLayoutOpaque_t();
  Layout layout = {type,    CUBLASLT_ORDER_COL, rows, columns,
                   leading, /*batchStride=*/0,  1};
  memcpy(*made, &layout, sizeof layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy(layout);
}

cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t opaque,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 const void *value, size_t bytes) {
  auto &layout = *reinterpret_cast<Layout *>(opaque);
  switch (attribute) {
  case CUBLASLT_MATRIX_LAYOUT_TYPE:
    return setField(layout.type, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_ORDER:
    return setField(layout.order, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_ROWS:
    return setField(layout.rows, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_COLS:
    return setField(layout.columns, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_LD:
    return setField(layout.leading, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
    return setField(layout.batches, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
    return setField(layout.batchStride, value, bytes);
  default:
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *made,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scaleType) {
  *made = new cublasLtMatmulDescOpaque_t();
  Description description = {};
  description.compute = compute;
  description.scaleType = scaleType;
  description.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  description.biasType = description.auxiliaryType = -1;
  memcpy(*made, &description, sizeof description);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  return destroy(description);
}

cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t opaque,
                               cublasLtMatmulDescAttributes_t attribute,
                               const void *value, size_t bytes) {
  auto &description = *reinterpret_cast<Description *>(opaque);
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
    return setField(description.compute, value, bytes);
  case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
    return setField(description.scaleType, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return setField(description.transposeA, value, bytes);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return setField(description.transposeB, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return setField(description.epilogue, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return setField(description.bias, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
    return setField(description.biasStride, value, bytes);
  case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
    return setField(description.biasType, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
    return setField(description.auxiliary, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
    return setField(description.auxiliaryLeading, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
    return setField(description.auxiliaryStride, value, bytes);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
    return setField(description.auxiliaryType, value, bytes);
  // Speed is the same here, whatever they are.
  case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
    return CUBLAS_STATUS_SUCCESS;
  default:
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *made) {
  *made = new cublasLtMatmulPreferenceOpaque_t();
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(preference);
}

cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                     cublasLtMatmulPreferenceAttributes_t,
                                     const void *, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The call, without its scalars; nothing if it is not supported.
static std::optional<Product>
makeProduct(cublasLtMatmulDesc_t description, const void *a,
            cublasLtMatrixLayout_t layoutA, const void *b,
            cublasLtMatrixLayout_t layoutB, const void *c,
            cublasLtMatrixLayout_t layoutC, void *d,
            cublasLtMatrixLayout_t layoutD) {
  std::optional<Matrix> left = getMatrix(a, layoutA),
                        right = getMatrix(b, layoutB),
                        before = getMatrix(c, layoutC),
                        result = getMatrix(d, layoutD);
  if (!left || !right || !before || !result)
    return std::nullopt;
  Product product{{}, 1, 0, *left, *right, *before, *result, {}, {}};
  memcpy(&product.description, description, sizeof product.description);
  if (!fit(product) || !addEpilogue(product))
    return std::nullopt;
  return product;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t description,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t, int wanted,
    cublasLtMatmulHeuristicResult_t results[], int *count) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("cublasLtMatmulAlgoGetHeuristic");
  *count = 0;
  if (wanted < 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!makeProduct(description, nullptr, a, nullptr, b, nullptr, c, nullptr, d))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  results[0] = {};
  results[0].state = CUBLAS_STATUS_SUCCESS;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t opaque,
                              const void *alpha, const void *a,
                              cublasLtMatrixLayout_t layoutA, const void *b,
                              cublasLtMatrixLayout_t layoutB, const void *beta,
                              const void *c, cublasLtMatrixLayout_t layoutC,
                              void *d, cublasLtMatrixLayout_t layoutD,
                              const cublasLtMatmulAlgo_t *, void *, size_t,
                              cudaStream_t stream) {
  Machine::Lock hold = machine().lock();
  ++machine().counters.products;
  std::optional<Product> product =
      makeProduct(opaque, a, layoutA, b, layoutB, c, layoutC, d, layoutD);
  if (!product)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  std::optional<NumberType> scale =
      getNumberType(product->description.scaleType);
  Stream *on = machine().find(stream, "cublasLtMatmul");
  if (!scale || !on)
    return CUBLAS_STATUS_INVALID_VALUE;
  product->alpha = readNumber(alpha, 0, *scale);
  product->beta = readNumber(beta, 0, *scale);
  auto operation = std::make_shared<Operation>();
  operation->text = "product on " + on->describe();
  operation->run = [product = *product] { return product.run(); };
  machine().enqueue(operation, {on});
  return CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
