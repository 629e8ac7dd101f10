//===- CpuTests.cpp - The CPU backend's memory and kernels ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Backend.h"
#include "backends/cpu/MatMul16.h"
#include "core/Arena.h"
#include "pprt/Descriptor.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace pprt;

namespace {
struct Product {
  int64_t batch, m, n, k;
  bool transposeA, transposeB, accumulate;
};
} // namespace

static std::vector<float> makeValues(int64_t count, float seed) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = std::sin(seed + 0.7f * float(i));
  return values;
}

static void check(const Product &p) {
  std::vector<float> a = makeValues(p.batch * p.m * p.k, 1);
  std::vector<float> b = makeValues(p.batch * p.k * p.n, 2);
  std::vector<float> c = makeValues(p.batch * p.m * p.n, 3);
  std::vector<float> before = c;
  pprtCpuMatmulF32(a.data(), b.data(), c.data(), p.batch, p.m, p.n, p.k,
                   p.m * p.k, p.k * p.n, p.m * p.n, p.transposeA, p.transposeB,
                   p.accumulate);
  for (int64_t index = 0; index < p.batch * p.m * p.n; ++index) {
    int64_t batch = index / (p.m * p.n);
    int64_t i = index / p.n % p.m, j = index % p.n;
    double sum = p.accumulate ? before[index] : 0;
    for (int64_t l = 0; l < p.k; ++l) {
      int64_t atA = p.transposeA ? l * p.m + i : i * p.k + l;
      int64_t atB = p.transposeB ? j * p.k + l : l * p.n + j;
      sum += double(a[batch * p.m * p.k + atA]) * b[batch * p.k * p.n + atB];
    }
    ASSERT_NEAR(c[index], sum, 1e-4) << "element " << index;
  }
}

// Small products are computed in place, larger ones by the library.
TEST(MatMul, EveryForm) {
  startCpuBackend();
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true})
      for (bool accumulate : {false, true}) {
        check({2, 3, 5, 4, transposeA, transposeB, accumulate});
        check({2, 17, 33, 65, transposeA, transposeB, accumulate});
        check({1, 1, 1, 1000, transposeA, transposeB, accumulate});
      }
}

// Wide rows are copied, some at a time; up to where there is no room for that.
TEST(MatMul, WideRows) {
  startCpuBackend();
  for (bool accumulate : {false, true})
    check({2, 64, 256, 33, false, false, accumulate});
  check({1, 64, 256, 2500, false, false, /*accumulate=*/true});
  check({1, 64, 256, 9000, false, false, false});
  check({1, 64, 256, 33, /*transposeA=*/true, false, false});
  check({1, 64, 256, 33, false, /*transposeB=*/true, false});
}

// One matrix for all of a batch has stride 0.
TEST(MatMul, SharedOperand) {
  std::vector<float> a = {1, 2, 3, 4}, b = {1, 0, 0, 1}, c(8);
  pprtCpuMatmulF32(a.data(), b.data(), c.data(), 2, 2, 2, 2, 0, 0, 4, 0, 0, 0);
  EXPECT_EQ(c, (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST(MatMul, SameBitsEachTime) {
  std::vector<float> a = makeValues(64 * 300, 1), b = makeValues(300 * 48, 2);
  std::vector<float> first(64 * 48), second(64 * 48 + 16);
  pprtCpuMatmulF32(a.data(), b.data(), first.data(), 1, 64, 48, 300, 0, 0, 0, 0,
                   0, 0);
  // Elsewhere in memory.
  pprtCpuMatmulF32(a.data(), b.data(), second.data() + 16, 1, 64, 48, 300, 0, 0,
                   0, 0, 0, 0);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), second.begin() + 16));
}

// All numbers of 16 bits, compared with the compiler's own type.
TEST(Half, ConvertsEveryNumber) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Float16 half = {uint16_t(bits)}, back;
    _Float16 expected;
    memcpy(&expected, &half, sizeof half);
    float value = toFloat(half);
    fromFloat(value, back);
    if (std::isnan(float(expected))) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_EQ(back.bits & 0x7FFF, 0x7E00) << bits;
      continue;
    }
    ASSERT_EQ(value, float(expected)) << bits;
    ASSERT_EQ(back.bits, bits);
  }
}

// Numbers of f32 all over its range, and ties.
TEST(Half, RoundsToNearestEven) {
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 0x7FF) {
    for (uint32_t tie :
         {uint32_t(bits), (uint32_t(bits) & ~0x1FFFu) | 0x1000}) {
      float value = floatFromBits(tie);
      if (std::isnan(value))
        continue;
      Float16 half;
      fromFloat(value, half);
      _Float16 expected = _Float16(value);
      uint16_t expectedBits;
      memcpy(&expectedBits, &expected, sizeof expectedBits);
      ASSERT_EQ(half.bits, expectedBits) << value;
    }
  }
}

TEST(Half, BFloat16RoundsToNearestEven) {
  auto round = [](uint32_t bits) {
    BFloat16 result;
    fromFloat(floatFromBits(bits), result);
    return result.bits;
  };
  EXPECT_EQ(round(0x3F808000), 0x3F80);
  EXPECT_EQ(round(0x3F818000), 0x3F82);
  EXPECT_EQ(round(0x3F808001), 0x3F81);
  EXPECT_EQ(round(0x7F7FFFFF), 0x7F80);
  EXPECT_EQ(round(0x00018000), 0x0002);
  EXPECT_EQ(round(0xFF800000), 0xFF80);
  // The upper half of this NaN is that of infinity.
  EXPECT_EQ(round(0x7F800001), 0x7FC0);
}

template <typename ToTy>
static std::vector<ToTy> convert(const std::vector<float> &values) {
  std::vector<ToTy> result(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    fromFloat(values[i], result[i]);
  return result;
}

/// Compares what \p multiply computes with sums of double; \p tolerance is
/// that of the rounding of a result.
template <typename OperandTy, typename ResultTy, typename MultiplyTy>
static void check16(const Product &p, double tolerance, MultiplyTy multiply) {
  auto a = convert<OperandTy>(makeValues(p.batch * p.m * p.k, 1));
  auto b = convert<OperandTy>(makeValues(p.batch * p.k * p.n, 2));
  auto c = convert<ResultTy>(makeValues(p.batch * p.m * p.n, 3));
  auto before = c;
  multiply(MatMulShape{p.batch, p.m, p.n, p.k, p.m * p.k, p.k * p.n, p.m * p.n,
                       p.transposeA, p.transposeB, p.accumulate},
           a.data(), b.data(), c.data());
  // Each processor adds in an order of its own; each of k additions may be off
  // by half of the last of 24 digits of what the terms can add up to.
  double roundings = std::max(1e-6, (p.k + 1) * 0x1p-24);
  // Of a large result some elements, of each row and column.
  int64_t count = p.batch * p.m * p.n, step = count < 10000 ? 1 : 101;
  for (int64_t index = 0; index < count; index += step) {
    int64_t batch = index / (p.m * p.n);
    int64_t i = index / p.n % p.m, j = index % p.n;
    double sum = p.accumulate ? toFloat(before[index]) : 0;
    double size = 1;
    for (int64_t l = 0; l < p.k; ++l) {
      int64_t atA = p.transposeA ? l * p.m + i : i * p.k + l;
      int64_t atB = p.transposeB ? j * p.k + l : l * p.n + j;
      double term = double(toFloat(a[batch * p.m * p.k + atA])) *
                    toFloat(b[batch * p.k * p.n + atB]);
      sum += term;
      size += std::abs(term);
    }
    ASSERT_NEAR(toFloat(c[index]), sum,
                roundings * size + tolerance * std::abs(sum))
        << "element " << index;
  }
}

/// Half of the last of 8 and of 11 digits.
static constexpr double bf16 = 1.0 / (1 << 8), f16 = 1.0 / (1 << 11);

template <typename CheckTy>
static void forEachForm(CheckTy check) {
  startCpuBackend();
  const int64_t sizes[][4] = {
      {2, 3, 5, 4}, {3, 17, 33, 65}, {1, 1, 1, 1000}, {1, 513, 514, 515}};
  for (const auto &[batch, m, n, k] : sizes)
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (bool accumulate : {false, true})
          check(Product{batch, m, n, k, transposeA, transposeB, accumulate});
}

// Products of f32 pass through the same code on every processor.
TEST(MatMul16, ByLibrary) {
  startCpuBackend();
  BFloat16 one = {0x3F80}, product;
  bool hasBFloat16 = multiplyByLibrary(
      {1, 1, 1, 1, 1, 1, 1, false, false, false}, &one, &one, &product);
  auto multiply = [](const MatMulShape &shape, auto *a, auto *b, auto *c) {
    ASSERT_TRUE(multiplyByLibrary(shape, a, b, c));
  };
  forEachForm([&](const Product &p) {
    check16<float, float>(p, 0, multiply);
    if (!hasBFloat16)
      return;
    check16<BFloat16, BFloat16>(p, bf16, multiply);
    check16<BFloat16, float>(p, 0, multiply);
  });
}

TEST(MatMul16, ByConversion) {
  auto multiply = [](const MatMulShape &shape, auto *a, auto *b, auto *c) {
    multiplyByConversion(shape, a, b, c);
  };
  forEachForm([&](const Product &p) {
    check16<BFloat16, BFloat16>(p, bf16, multiply);
    check16<BFloat16, float>(p, 0, multiply);
    check16<Float16, Float16>(p, f16, multiply);
    check16<Float16, float>(p, 0, multiply);
  });
}

// What tasks call; 1 is 0x3F80 as bf16 and 0x3C00 as f16, 2 is 0x4000 in both.
TEST(MatMul16, SharedOperand) {
  startCpuBackend();
  std::vector<uint16_t> matrix = {0x3F80, 0, 0x4000, 0x3F80}, c(8);
  std::vector<uint16_t> one = {0x3F80, 0, 0, 0x3F80};
  pprtCpuMatmulBF16(matrix.data(), one.data(), c.data(), 2, 2, 2, 2, 0, 0, 4, 0,
                    0, 0);
  EXPECT_EQ(c, (std::vector<uint16_t>{0x3F80, 0, 0x4000, 0x3F80, 0x3F80, 0,
                                      0x4000, 0x3F80}));
  std::vector<uint16_t> halves = {0x3C00, 0x4000};
  float sum = 1;
  pprtCpuMatmulF16F32(halves.data(), halves.data(), &sum, 1, 1, 1, 2, 0, 0, 0,
                      0, 0, 1);
  EXPECT_EQ(sum, 6);
}

TEST(Arena, IsAlignedAndZero) {
  Arena arena;
  ASSERT_FALSE(arena.allocate(5000000).failed());
  EXPECT_EQ(arena.getBytes(), 5000000u);
  EXPECT_EQ(reinterpret_cast<uint64_t>(arena.at(0)) % (2 << 20), 0u);
  for (uint64_t offset = 0; offset < 5000000; offset += 997)
    ASSERT_EQ(*arena.at(offset), 0);
}

TEST(Arena, TooLargeIsAnError) {
  Arena arena;
  Status status = arena.allocate(uint64_t(1) << 60);
  EXPECT_EQ(status.getMessage(), "cannot allocate an arena of "
                                 "1152921504606846976 bytes: Cannot allocate "
                                 "memory");
}
