//===- ExpertsTests.cpp - Rows that each have one of several matrices -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Backend.h"
#include "core/Half.h"
#include "pprt/Descriptor.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace pprt;

/// What a type of 16 bits holds, as bits.
static double decode(float value) { return value; }
static double decode(uint16_t bits) { return toFloat(BFloat16{bits}); }

static void encode(float value, float &result) { result = value; }
static void encode(float value, uint16_t &result) {
  BFloat16 rounded;
  fromFloat(value, rounded);
  result = rounded.bits;
}

template <typename ElementTy>
static std::vector<ElementTy> makeValues(int64_t count, float seed) {
  std::vector<ElementTy> values(count);
  for (int64_t i = 0; i < count; ++i)
    encode(std::sin(seed + 0.7f * float(i)), values[i]);
  return values;
}

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
  /// The expert that \p number names, or -1.
  int64_t resolve(int64_t number) const {
    int64_t expert = number < 0 ? number + expertCount : number;
    return expert < expertCount ? expert : -1;
  }
};
} // namespace

/// One row, several, enough for a kernel of the library, and more experts than
/// rows.
static const Sizes everySize[] = {
    {1, 1, 3, 2}, {9, 4, 5, 7}, {301, 3, 65, 33}, {20, 50, 16, 24}};

/// \p tolerance is that of rounding a result.
template <typename OperandTy, typename ResultTy, typename KernelTy>
static void checkProduct(KernelTy kernel, const Sizes &s, bool transposeB,
                         double tolerance) {
  auto a = makeValues<OperandTy>(s.rows * s.m, 1);
  auto b = makeValues<OperandTy>(s.expertCount * s.m * s.n, 2);
  auto c = makeValues<ResultTy>(s.rows * s.n, 3);
  std::vector<int64_t> experts = s.makeExperts();
  std::vector<OperandTy> packedA(a.size());
  std::vector<ResultTy> packedC(c.size());
  kernel(a.data(), b.data(), experts.data(), c.data(), packedA.data(),
         packedC.data(), s.rows, s.expertCount, s.m, s.n, transposeB);
  for (int64_t index = 0; index < s.rows * s.n; ++index) {
    int64_t row = index / s.n, column = index % s.n;
    int64_t expert = s.resolve(experts[row]);
    double sum = 0;
    for (int64_t l = 0; expert >= 0 && l < s.m; ++l)
      sum += decode(a[row * s.m + l]) *
             decode(b[expert * s.m * s.n +
                      (transposeB ? column * s.m + l : l * s.n + column)]);
    ASSERT_NEAR(decode(c[index]), sum, 1e-4 + tolerance * std::abs(sum))
        << "element " << index;
  }
}

template <typename OperandTy, typename ResultTy, typename KernelTy>
static void checkOuter(KernelTy kernel, const Sizes &s, bool accumulate,
                       double tolerance) {
  auto a = makeValues<OperandTy>(s.rows * s.m, 1);
  auto b = makeValues<OperandTy>(s.rows * s.n, 2);
  auto c = makeValues<ResultTy>(s.expertCount * s.m * s.n, 3);
  std::vector<double> sums(c.size());
  for (size_t at = 0; accumulate && at < c.size(); ++at)
    sums[at] = decode(c[at]);
  std::vector<int64_t> experts = s.makeExperts();
  for (int64_t row = 0; row < s.rows; ++row)
    if (int64_t expert = s.resolve(experts[row]); expert >= 0)
      for (int64_t at = 0; at < s.m * s.n; ++at)
        sums[expert * s.m * s.n + at] +=
            decode(a[row * s.m + at / s.n]) * decode(b[row * s.n + at % s.n]);
  std::vector<OperandTy> packedA(a.size()), packedB(b.size());
  kernel(a.data(), b.data(), experts.data(), c.data(), packedA.data(),
         packedB.data(), s.rows, s.expertCount, s.m, s.n, accumulate);
  for (size_t at = 0; at < c.size(); ++at)
    ASSERT_NEAR(decode(c[at]), sums[at], 1e-4 + tolerance * std::abs(sums[at]))
        << "element " << at;
}

/// Half of the last of 8 digits.
static constexpr double bf16 = 1.0 / (1 << 8);

TEST(Experts, MultiplyRows) {
  startCpuBackend();
  for (const Sizes &sizes : everySize)
    for (bool transposeB : {false, true}) {
      checkProduct<float, float>(pprtCpuExpertMatmulF32, sizes, transposeB, 0);
      checkProduct<uint16_t, uint16_t>(pprtCpuExpertMatmulBF16, sizes,
                                       transposeB, bf16);
      checkProduct<uint16_t, float>(pprtCpuExpertMatmulBF16F32, sizes,
                                    transposeB, 0);
    }
}

TEST(Experts, SumOuterProducts) {
  startCpuBackend();
  for (const Sizes &sizes : everySize)
    for (bool accumulate : {false, true}) {
      checkOuter<float, float>(pprtCpuExpertOuterF32, sizes, accumulate, 0);
      checkOuter<uint16_t, uint16_t>(pprtCpuExpertOuterBF16, sizes, accumulate,
                                     bf16);
      checkOuter<uint16_t, float>(pprtCpuExpertOuterBF16F32, sizes, accumulate,
                                  0);
    }
}

// What tasks call for f16, in which 1 is 0x3C00, 2 is 0x4000 and 4 is 0x4400.
TEST(Experts, Halves) {
  startCpuBackend();
  std::vector<uint16_t> rows = {0x3C00, 0x4000}, weights = {0x4000, 0x3C00};
  std::vector<int64_t> experts = {1, 0};
  std::vector<uint16_t> packed(2), product(2), other(2);
  pprtCpuExpertMatmulF16(rows.data(), weights.data(), experts.data(),
                         product.data(), packed.data(), other.data(), 2, 2, 1,
                         1, 0);
  EXPECT_EQ(product, (std::vector<uint16_t>{0x3C00, 0x4400}));
  std::vector<float> sums = {1, 1};
  pprtCpuExpertOuterF16F32(rows.data(), product.data(), experts.data(),
                           sums.data(), packed.data(), other.data(), 2, 2, 1, 1,
                           1);
  EXPECT_EQ(sums, (std::vector<float>{9, 2}));
}
