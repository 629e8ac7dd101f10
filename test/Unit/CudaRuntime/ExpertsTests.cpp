//===- ExpertsTests.cpp - Rows of experts on a device ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results are those of the CPU's functions, but for the order of a sum.
//
//===----------------------------------------------------------------------===//

#include "DeviceNumbers.h"
#include "DeviceTest.h"

#include "backends/cpu/Backend.h"
#include "pprt/Cuda.h"
#include "pprt/Descriptor.h"

#include <cmath>

using namespace pprt;
using namespace pprt::cuda;

namespace {
struct Sizes {
  int64_t rows, expertCount, m, n;

  /// Numbers of a few experts, some counted from the end, some of none.
  std::vector<int64_t> makeExperts() const {
    std::vector<int64_t> experts(rows);
    for (int64_t row = 0; row < rows; ++row)
      experts[row] = row * row % (expertCount + 3) - 2;
    return experts;
  }
};

class Experts : public DeviceTest {
protected:
  Experts() { startCpuBackend(); }
};
} // namespace

/// One row; several; more than a tile, and than a thread of the sort has, with
/// and without whole packets; more experts than rows; no row.
static const Sizes everySize[] = {{1, 1, 3, 2},     {9, 4, 5, 7},
                                  {300, 3, 65, 33}, {150, 2, 40, 72},
                                  {20, 50, 16, 24}, {0, 2, 4, 4}};

template <typename ElementTy>
static std::vector<ElementTy> makeValues(int64_t count, float seed) {
  return encodeEach<ElementTy>(
      count, [=](int64_t i) { return std::sin(seed + 0.7F * float(i)); });
}

/// Equal up to the order of a sum, and how a type of 16 bits rounds it.
template <typename ElementTy>
static void expectClose(const std::vector<ElementTy> &computed,
                        const std::vector<ElementTy> &expected,
                        double tolerance) {
  ASSERT_EQ(computed.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    float value = toFloat(expected[i]);
    ASSERT_NEAR(toFloat(computed[i]), value, 2e-5 + tolerance * std::abs(value))
        << "element " << i;
  }
}

#define EXPECT_PRODUCTS(TYPES, OPERAND, RESULT, TOLERANCE)                     \
  for (const Sizes &s : everySize)                                             \
    for (bool transposeB : {false, true}) {                                    \
      auto a = makeValues<OPERAND>(s.rows * s.m, 1);                           \
      auto b = makeValues<OPERAND>(s.expertCount * s.m * s.n, 2);              \
      auto c = makeValues<RESULT>(s.rows * s.n, 3), packedC = c;               \
      std::vector<OPERAND> packedA(a.size());                                  \
      std::vector<int64_t> experts = s.makeExperts();                          \
      OPERAND *left = upload(a), *right = upload(b);                           \
      RESULT *result = upload(c);                                              \
      int64_t *numbers = upload(experts);                                      \
      prepareAndRun([&] {                                                      \
        pprtCudaExpertMatmul##TYPES(asWords(left), asWords(right), numbers,    \
                                    asWords(result), nullptr, nullptr, s.rows, \
                                    s.expertCount, s.m, s.n, transposeB);      \
      });                                                                      \
      pprtCpuExpertMatmul##TYPES(                                              \
          asWords(a.data()), asWords(b.data()), experts.data(),                \
          asWords(c.data()), asWords(packedA.data()), asWords(packedC.data()), \
          s.rows, s.expertCount, s.m, s.n, transposeB);                        \
      SCOPED_TRACE(s.rows);                                                    \
      expectClose(download(result, c.size()), c, TOLERANCE);                   \
      freeMemory();                                                            \
    }

#define EXPECT_OUTER_PRODUCTS(TYPES, OPERAND, RESULT, TOLERANCE)               \
  for (const Sizes &s : everySize)                                             \
    for (bool accumulate : {false, true}) {                                    \
      auto a = makeValues<OPERAND>(s.rows * s.m, 1);                           \
      auto b = makeValues<OPERAND>(s.rows * s.n, 2);                           \
      auto c = makeValues<RESULT>(s.expertCount * s.m * s.n, 3);               \
      std::vector<OPERAND> packedA(a.size()), packedB(b.size());               \
      std::vector<int64_t> experts = s.makeExperts();                          \
      OPERAND *left = upload(a), *right = upload(b);                           \
      RESULT *result = upload(c);                                              \
      int64_t *numbers = upload(experts);                                      \
      prepareAndRun([&] {                                                      \
        pprtCudaExpertOuter##TYPES(asWords(left), asWords(right), numbers,     \
                                   asWords(result), nullptr, nullptr, s.rows,  \
                                   s.expertCount, s.m, s.n, accumulate);       \
      });                                                                      \
      pprtCpuExpertOuter##TYPES(                                               \
          asWords(a.data()), asWords(b.data()), experts.data(),                \
          asWords(c.data()), asWords(packedA.data()), asWords(packedB.data()), \
          s.rows, s.expertCount, s.m, s.n, accumulate);                        \
      SCOPED_TRACE(s.rows);                                                    \
      expectClose(download(result, c.size()), c, TOLERANCE);                   \
      freeMemory();                                                            \
    }

/// One in the last of 8 and of 11 digits.
static constexpr double bf16 = 1.0 / (1 << 7), f16 = 1.0 / (1 << 10);

TEST_F(Experts, ComputeF32){EXPECT_PRODUCTS(F32, float, float, 0)
                                EXPECT_OUTER_PRODUCTS(F32, float, float, 1e-6)}

TEST_F(Experts,
       ComputeBF16){EXPECT_PRODUCTS(BF16, BFloat16, BFloat16, bf16)
                        EXPECT_OUTER_PRODUCTS(BF16, BFloat16, BFloat16, bf16)}

TEST_F(Experts, ComputeBF16F32){
    EXPECT_PRODUCTS(BF16F32, BFloat16, float, 0)
        EXPECT_OUTER_PRODUCTS(BF16F32, BFloat16, float, 1e-6)}

TEST_F(Experts,
       ComputeF16){EXPECT_PRODUCTS(F16, Float16, Float16, f16)
                       EXPECT_OUTER_PRODUCTS(F16, Float16, Float16, f16)}

TEST_F(Experts,
       ComputeF16F32){EXPECT_PRODUCTS(F16F32, Float16, float, 0)
                          EXPECT_OUTER_PRODUCTS(F16F32, Float16, float, 1e-6)}

// The same numbers at addresses where no packet begins.
TEST_F(Experts, ReadRowsThatAreNotAligned) {
  constexpr int64_t rows = 70, m = 32, n = 64;
  auto a = makeValues<BFloat16>(rows * m, 1),
       b = makeValues<BFloat16>(m * n, 2);
  int64_t *numbers = upload(std::vector<int64_t>(rows));
  std::vector<float> results[2];
  for (size_t shift : {0, 1}) {
    BFloat16 *left = upload(a, shift), *right = upload(b, shift);
    float *result = upload(std::vector<float>(rows * n));
    prepareAndRun([&] {
      pprtCudaExpertMatmulBF16F32(asWords(left), asWords(right), numbers,
                                  result, nullptr, nullptr, rows, 1, m, n, 0);
    });
    results[shift] = download(result, rows * n);
  }
  EXPECT_EQ(results[0], results[1]);
}

using ExpertsDeathTest = Experts;

TEST_F(ExpertsDeathTest, SaysHowMuchWorkspaceTheListsTake) {
  to.workspaceBytes = 64;
  prepare(true);
  EXPECT_EXIT(pprtCudaExpertOuterF32(nullptr, nullptr, nullptr, nullptr,
                                     nullptr, nullptr, 100, 4, 1, 1, 0),
              testing::ExitedWithCode(3),
              "to list 100 rows of 4 experts takes 424 bytes of the workspace "
              "of products, which has 64");
}
