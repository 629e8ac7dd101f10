//===- MatMul16.cpp - Products of matrices of 16-bit floats ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products are added up in f32 whatever they are made of, and rounded once.
// Whether the processor multiplies bf16 is found out when a rank runs: it may
// not be the processor that the model was compiled on.
//
//===----------------------------------------------------------------------===//

#include "MatMul16.h"

#include "pprt/Descriptor.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <type_traits>

using namespace pprt;

//===----------------------------------------------------------------------===//
// oneDNN
//===----------------------------------------------------------------------===//

namespace {
/// The processor, as the library sees it; null members if it cannot be used.
struct Library {
  Library() {
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success)
      (void)dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  }

  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
};

/// A kernel for one shape, and the descriptions of its operands.
class LibraryMatMul {
public:
  LibraryMatMul(const MatMulShape &shape, dnnl_data_type_t operand,
                dnnl_data_type_t result);
  LibraryMatMul(const LibraryMatMul &) = delete;
  LibraryMatMul &operator=(const LibraryMatMul &) = delete;

  bool isSupported() const { return primitive != nullptr; }
  void run(const void *a, const void *b, void *c);

private:
  bool create(const MatMulShape &shape, dnnl_data_type_t operand,
              dnnl_data_type_t result);

  dnnl_memory_desc_t descriptions[3];
  dnnl_primitive_t primitive = nullptr;
  dnnl_memory_t memories[3] = {};
};
} // namespace

/// Kept until the process ends, as the kernels are.
static const Library &getLibrary() {
  static const auto *library = new Library();
  return *library;
}

/// A batch of \p rows x \p columns matrices, stored transposed or not.
static bool describe(dnnl_memory_desc_t &description, dnnl_data_type_t type,
                     int64_t batch, int64_t stride, int64_t rows,
                     int64_t columns, bool transposed) {
  // One matrix for all batches is a batch of one, which is repeated.
  dnnl_dims_t extents = {stride == 0 ? 1 : batch, rows, columns};
  dnnl_dims_t strides = {stride == 0 ? rows * columns : stride,
                         transposed ? 1 : columns, transposed ? rows : 1};
  return dnnl_memory_desc_init_by_strides(&description, 3, extents, type,
                                          strides) == dnnl_success;
}

bool LibraryMatMul::create(const MatMulShape &s, dnnl_data_type_t operand,
                           dnnl_data_type_t result) {
  const Library &library = getLibrary();
  dnnl_matmul_desc_t operation;
  // A batch of one result has a stride, too.
  int64_t strideC = s.strideC == 0 ? s.m * s.n : s.strideC;
  if (!describe(descriptions[0], operand, s.batch, s.strideA, s.m, s.k,
                s.transposeA) ||
      !describe(descriptions[1], operand, s.batch, s.strideB, s.k, s.n,
                s.transposeB) ||
      !describe(descriptions[2], result, s.batch, strideC, s.m, s.n, false) ||
      dnnl_matmul_desc_init(&operation, &descriptions[0], &descriptions[1],
                            nullptr, &descriptions[2]) != dnnl_success ||
      !library.stream)
    return false;

  dnnl_primitive_attr_t attributes = nullptr;
  dnnl_post_ops_t after = nullptr;
  dnnl_primitive_desc_t kernel = nullptr;
  bool created =
      dnnl_primitive_attr_create(&attributes) == dnnl_success &&
      dnnl_post_ops_create(&after) == dnnl_success &&
      (!s.accumulate ||
       dnnl_post_ops_append_sum(after, 1.0f) == dnnl_success) &&
      dnnl_primitive_attr_set_post_ops(attributes, after) == dnnl_success &&
      dnnl_primitive_desc_create(&kernel, &operation, attributes,
                                 library.engine, nullptr) == dnnl_success &&
      dnnl_primitive_create(&primitive, kernel) == dnnl_success;
  dnnl_primitive_desc_destroy(kernel);
  dnnl_post_ops_destroy(after);
  dnnl_primitive_attr_destroy(attributes);
  for (int i = 0; i < 3 && created; ++i)
    created = dnnl_memory_create(&memories[i], &descriptions[i], library.engine,
                                 DNNL_MEMORY_NONE) == dnnl_success;
  return created;
}

LibraryMatMul::LibraryMatMul(const MatMulShape &shape, dnnl_data_type_t operand,
                             dnnl_data_type_t result) {
  if (!create(shape, operand, result))
    primitive = nullptr;
}

void LibraryMatMul::run(const void *a, const void *b, void *c) {
  // The library takes no pointers to what is only read.
  void *data[] = {const_cast<void *>(a), const_cast<void *>(b), c};
  for (int i = 0; i < 3; ++i)
    (void)dnnl_memory_set_data_handle(memories[i], data[i]);
  dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, memories[0]},
                                 {DNNL_ARG_WEIGHTS, memories[1]},
                                 {DNNL_ARG_DST, memories[2]}};
  // What could fail has failed when the kernel was made.
  (void)dnnl_primitive_execute(primitive, getLibrary().stream, 3, arguments);
  (void)dnnl_stream_wait(getLibrary().stream);
}

template <typename RealTy>
static constexpr dnnl_data_type_t libraryType =
    std::is_same_v<RealTy, float> ? dnnl_f32 : dnnl_bf16;

template <typename OperandTy, typename ResultTy>
bool pprt::multiplyByLibrary(const MatMulShape &shape, const OperandTy *a,
                             const OperandTy *b, ResultTy *c) {
  // Kept until the process ends: a rank has few shapes, and one thread.
  static thread_local auto *kernels =
      new std::map<MatMulShape, std::unique_ptr<LibraryMatMul>>();
  std::unique_ptr<LibraryMatMul> &kernel = (*kernels)[shape];
  if (!kernel)
    kernel = std::make_unique<LibraryMatMul>(shape, libraryType<OperandTy>,
                                             libraryType<ResultTy>);
  if (!kernel->isSupported())
    return false;
  kernel->run(a, b, c);
  return true;
}

template bool pprt::multiplyByLibrary(const MatMulShape &, const BFloat16 *,
                                      const BFloat16 *, BFloat16 *);
template bool pprt::multiplyByLibrary(const MatMulShape &, const BFloat16 *,
                                      const BFloat16 *, float *);
template bool pprt::multiplyByLibrary(const MatMulShape &, const float *,
                                      const float *, float *);

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static constexpr int64_t blockRows = 256, blockColumns = 512, blockDepth = 512;

/// Converts \p rows x \p columns elements whose rows are \p stride apart.
template <typename FromTy>
static void convertBlock(const FromTy *from, int64_t stride, int64_t rows,
                         int64_t columns, float *__restrict to) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[i * columns + j] = toFloat(from[i * stride + j]);
}

template <typename ToTy>
static void storeBlock(const float *__restrict from, ToTy *to, int64_t stride,
                       int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      fromFloat(from[i * columns + j], to[i * stride + j]);
}

namespace {
/// Room for the blocks of one product, in f32.
struct Blocks {
  float a[blockRows * blockDepth];
  float b[blockDepth * blockColumns];
  float c[blockRows * blockColumns];
};
} // namespace

/// Computes \p rows x \p columns elements of the result from (\p row,
/// \p column) on.
template <typename OperandTy, typename ResultTy>
static void multiplyBlock(const MatMulShape &s, const OperandTy *a,
                          const OperandTy *b, ResultTy *c, int64_t row,
                          int64_t column, int64_t rows, int64_t columns,
                          Blocks &blocks) {
  ResultTy *target = c + row * s.n + column;
  if (s.accumulate)
    convertBlock(target, s.n, rows, columns, blocks.c);
  for (int64_t at = 0; at < s.k; at += blockDepth) {
    int64_t depth = std::min(blockDepth, s.k - at);
    if (s.transposeA)
      convertBlock(a + at * s.m + row, s.m, depth, rows, blocks.a);
    else
      convertBlock(a + row * s.k + at, s.k, rows, depth, blocks.a);
    if (s.transposeB)
      convertBlock(b + column * s.k + at, s.k, columns, depth, blocks.b);
    else
      convertBlock(b + at * s.n + column, s.n, depth, columns, blocks.b);
    // Fails only for negative sizes, which there are none of.
    (void)dnnl_sgemm(
        s.transposeA ? 'T' : 'N', s.transposeB ? 'T' : 'N', rows, columns,
        depth, /*alpha=*/1.0f, blocks.a, s.transposeA ? rows : depth, blocks.b,
        s.transposeB ? depth : columns,
        /*beta=*/s.accumulate || at != 0 ? 1.0f : 0.0f, blocks.c, columns);
  }
  storeBlock(blocks.c, target, s.n, rows, columns);
}

template <typename OperandTy, typename ResultTy>
void pprt::multiplyByConversion(const MatMulShape &s, const OperandTy *a,
                                const OperandTy *b, ResultTy *c) {
  static thread_local auto blocks = std::make_unique<Blocks>();
  for (int64_t i = 0; i < s.batch; ++i)
    for (int64_t row = 0; row < s.m; row += blockRows)
      for (int64_t column = 0; column < s.n; column += blockColumns)
        multiplyBlock(s, a + i * s.strideA, b + i * s.strideB,
                      c + i * s.strideC, row, column,
                      std::min(blockRows, s.m - row),
                      std::min(blockColumns, s.n - column), *blocks);
}

template void pprt::multiplyByConversion(const MatMulShape &, const BFloat16 *,
                                         const BFloat16 *, BFloat16 *);
template void pprt::multiplyByConversion(const MatMulShape &, const BFloat16 *,
                                         const BFloat16 *, float *);
template void pprt::multiplyByConversion(const MatMulShape &, const Float16 *,
                                         const Float16 *, Float16 *);
template void pprt::multiplyByConversion(const MatMulShape &, const Float16 *,
                                         const Float16 *, float *);

//===----------------------------------------------------------------------===//
// What tasks call
//===----------------------------------------------------------------------===//

template <typename OperandTy, typename ResultTy>
static void multiply(const uint16_t *a, const uint16_t *b, void *c,
                     const MatMulShape &shape) {
  auto *left = reinterpret_cast<const OperandTy *>(a);
  auto *right = reinterpret_cast<const OperandTy *>(b);
  auto *result = static_cast<ResultTy *>(c);
  if constexpr (std::is_same_v<OperandTy, BFloat16>)
    if (multiplyByLibrary(shape, left, right, result))
      return;
  multiplyByConversion(shape, left, right, result);
}

#define PPRT_DEFINE_MATMUL(NAME, OPERAND, RESULT, STORED)                      \
  void NAME(const uint16_t *a, const uint16_t *b, STORED *c, int64_t batch,    \
            int64_t m, int64_t n, int64_t k, int64_t strideA, int64_t strideB, \
            int64_t strideC, int32_t transposeA, int32_t transposeB,           \
            int32_t accumulate) {                                              \
    multiply<OPERAND, RESULT>(a, b, c,                                         \
                              {batch, m, n, k, strideA, strideB, strideC,      \
                               transposeA != 0, transposeB != 0,               \
                               accumulate != 0});                              \
  }
PPRT_DEFINE_MATMUL(pprtCpuMatmulBF16, BFloat16, BFloat16, uint16_t)
PPRT_DEFINE_MATMUL(pprtCpuMatmulBF16F32, BFloat16, float, float)
PPRT_DEFINE_MATMUL(pprtCpuMatmulF16, Float16, Float16, uint16_t)
PPRT_DEFINE_MATMUL(pprtCpuMatmulF16F32, Float16, float, float)
#undef PPRT_DEFINE_MATMUL
