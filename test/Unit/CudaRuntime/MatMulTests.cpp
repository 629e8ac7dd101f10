//===- MatMulTests.cpp - Matrix products on a device ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stand-in of cuBLASLt adds up in f64, so results are those of the
// definition, rounded once.
//
//===----------------------------------------------------------------------===//

#include "DeviceNumbers.h"
#include "DeviceTest.h"
#include "Machine.h"

#include "pprt/Cuda.h"

#include <cmath>

using namespace pprt;
using namespace pprt::cuda;

namespace {
struct Case {
  int64_t batch, m, n, k;
  bool isOneA, isOneB; ///< one matrix for all of the batch
  bool transposeA, transposeB, accumulate;

  int64_t strideA() const { return isOneA ? 0 : m * k; }
  int64_t strideB() const { return isOneB ? 0 : k * n; }
  int64_t sizeA() const { return (isOneA ? 1 : batch) * m * k; }
  int64_t sizeB() const { return (isOneB ? 1 : batch) * k * n; }
};

class MatMul : public DeviceTest {};
} // namespace

static const Case cases[] = {{1, 3, 5, 7, false, false, false, false, false},
                             {1, 3, 5, 7, false, false, true, false, true},
                             {1, 3, 5, 7, false, false, false, true, false},
                             {1, 3, 5, 7, false, false, true, true, true},
                             {4, 2, 3, 6, false, false, false, true, false},
                             {4, 2, 3, 6, true, false, true, false, true},
                             {4, 2, 3, 6, false, true, true, false, false},
                             // The batch becomes rows.
                             {4, 2, 3, 6, false, true, false, true, true},
                             {1, 1, 1, 1, false, false, false, false, false}};

/// Element (row, column) of matrix \p at of the batch.
static double multiply(const Case &s, const std::vector<double> &a,
                       const std::vector<double> &b, int64_t at, int64_t row,
                       int64_t column) {
  double sum = 0;
  for (int64_t l = 0; l < s.k; ++l)
    sum +=
        a[at * s.strideA() + (s.transposeA ? l * s.m + row : row * s.k + l)] *
        b[at * s.strideB() +
          (s.transposeB ? column * s.k + l : l * s.n + column)];
  return sum;
}

#define EXPECT_PRODUCTS(TYPES, OPERAND, RESULT)                                \
  for (const Case &s : cases) {                                                \
    auto a = makeHalves<OPERAND>(s.sizeA(), 1);                                \
    auto b = makeHalves<OPERAND>(s.sizeB(), 2);                                \
    auto c = makeHalves<RESULT>(s.batch * s.m * s.n, 3);                       \
    OPERAND *left = upload(a), *right = upload(b);                             \
    RESULT *result = upload(c);                                                \
    prepareAndRun([&] {                                                        \
      pprtCudaMatmul##TYPES(asWords(left), asWords(right), asWords(result),    \
                            s.batch, s.m, s.n, s.k, s.strideA(), s.strideB(),  \
                            s.m * s.n, s.transposeA, s.transposeB,             \
                            s.accumulate);                                     \
    });                                                                        \
    std::vector<double> before = decodeAll(c), lefts = decodeAll(a),           \
                        rights = decodeAll(b),                                 \
                        computed = decodeAll(download(result, c.size()));      \
    for (int64_t i = 0; i < s.batch * s.m * s.n; ++i)                          \
      EXPECT_EQ(computed[i], multiply(s, lefts, rights, i / (s.m * s.n),       \
                                      i / s.n % s.m, i % s.n) +                \
                                 (s.accumulate ? before[i] : 0))               \
          << "element " << i << " of case " << &s - cases;                     \
  }

TEST_F(MatMul, MultipliesF32){
    EXPECT_PRODUCTS(F32, float, float)} TEST_F(MatMul, MultipliesBF16){
    EXPECT_PRODUCTS(BF16, BFloat16, BFloat16)} TEST_F(MatMul,
                                                      MultipliesBF16ToF32){
    EXPECT_PRODUCTS(BF16F32, BFloat16, float)} TEST_F(MatMul, MultipliesF16){
    EXPECT_PRODUCTS(F16, Float16, Float16)} TEST_F(MatMul, MultipliesF16ToF32){
    EXPECT_PRODUCTS(F16F32, Float16, float)}

TEST_F(MatMul, ChangesNothingWhileItPrepares) {
  float *a = upload<float>({1, 2}), *b = upload<float>({3, 4});
  float *c = upload<float>({5});
  prepare(true);
  pprtCudaMatmulF32(a, b, c, 1, 1, 1, 2, 0, 0, 0, 0, 0, /*accumulate=*/0);
  EXPECT_EQ(download(c, 1)[0], 5);
}

// Both are made: a plan is of one kind of product.
TEST_F(MatMul, RoundsOperandsOfF32IfItMay) {
  if (!isStandIn)
    GTEST_SKIP() << "the library need not make use of it";
  float *a = upload<float>({1 + 0x1p-12F}), *b = upload<float>({1});
  float *c = upload<float>({0, 0});
  pprtCudaMatmulF32(a, b, c, 1, 1, 1, 1, 0, 0, 0, 0, 0, /*accumulate=*/0);
  to.allowsTf32 = true;
  pprtCudaMatmulF32(a, b, c + 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, /*accumulate=*/0);
  EXPECT_EQ(download(c, 2), (std::vector<float>{1 + 0x1p-12F, 1}));
}

TEST_F(MatMul, OfNothingIsNothing) {
  pprtCudaMatmulF32(nullptr, nullptr, nullptr, 3, 0, 4, 5, 0, 0, 0, 0, 0, 0);
}

using MatMulDeathTest = MatMul;

TEST_F(MatMulDeathTest, SaysWhichShapeTheLibraryDoesNotCompute) {
  float *data = upload<float>(std::vector<float>(64));
  EXPECT_EXIT(
      pprtCudaMatmulF32(data, data, data, 1, 2, 3, 0, 0, 0, 0, 1, 0, 0),
      testing::ExitedWithCode(3),
      "cuBLASLt does not compute 1 product.s. of f32, 2 x 0 by 0 x 3, with a "
      "result of f32, the left one transposed");
}
