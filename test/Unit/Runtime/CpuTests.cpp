//===- CpuTests.cpp - The CPU backend's memory and kernels ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Backend.h"
#include "core/Arena.h"
#include "pprt/Descriptor.h"

#include <cmath>
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
