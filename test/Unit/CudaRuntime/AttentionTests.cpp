//===- AttentionTests.cpp - Attention on a device -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compared with what its definition says in f64, of the same numbers of 16
// bits.
//
//===----------------------------------------------------------------------===//

#include "AttentionWorkspace.h"
#include "DeviceNumbers.h"
#include "DeviceTest.h"
#include "Machine.h"

#include "pprt/Cuda.h"

#include <cmath>

using namespace pprt;
using namespace pprt::cuda;
using Numbers = std::vector<double>;

namespace {
struct Case {
  int64_t batch, heads, groups, queries, keys, size, valueSize;
  bool causal;

  int64_t countRows() const { return batch * heads * queries; }
  int64_t countColumns() const { return batch * groups * keys; }
};

/// All that goes in and comes out.
struct Arrays {
  Numbers query, key, value, gradient;
  Numbers result, statistics, queryGradient, keyGradient, valueGradient;
};

class Attention : public DeviceTest {
protected:
  template <typename T>
  Arrays attend(const Case &s, bool keepsStatistics);
  template <typename T>
  void expectDefinition();
};
} // namespace

static const Case cases[] = {
    {2, 2, 2, 5, 5, 8, 16, true},
    // Each group has two heads, and there are keys before the first query.
    {1, 4, 2, 3, 7, 16, 8, true},
    {2, 3, 3, 4, 6, 8, 8, false},
    // All heads have the same keys, and there are more queries than keys.
    {1, 4, 1, 6, 4, 8, 8, false},
    {1, 1, 1, 1, 4, 8, 8, true},
    // More than a tile of the library.
    {1, 2, 1, 70, 70, 8, 8, true}};

static constexpr double scale = 0.75;

template <typename T>
static std::vector<T> makeNumbers(int64_t count, int64_t seed) {
  return encodeEach<T>(count, [=](int64_t i) {
    return float((seed * 7 + i * i * 3 + i) % 17) / 8 - 1;
  });
}

static double multiply(const Numbers &a, int64_t rowA, const Numbers &b,
                       int64_t rowB, int64_t size) {
  double sum = 0;
  for (int64_t i = 0; i < size; ++i)
    sum += a[rowA * size + i] * b[rowB * size + i];
  return sum;
}

/// to[rowTo] += factor from[rowFrom]
static void addRow(Numbers &to, int64_t rowTo, const Numbers &from,
                   int64_t rowFrom, int64_t size, double factor) {
  for (int64_t i = 0; i < size; ++i)
    to[rowTo * size + i] += factor * from[rowFrom * size + i];
}

/// Computes what comes out for one query, of which the keys' rows begin with
/// \p first.
static void defineRow(const Case &s, Arrays &a, int64_t row, int64_t first) {
  int64_t seen = s.keys;
  if (s.causal)
    seen -= s.queries - 1 - row % s.queries;
  Numbers weights(seen);
  double most = -INFINITY, sum = 0;
  for (int64_t k = 0; k < seen; ++k) {
    weights[k] = scale * multiply(a.query, row, a.key, first + k, s.size);
    most = std::max(most, weights[k]);
  }
  for (double &weight : weights)
    sum += weight = std::exp(weight - most);
  a.statistics[row] = most + std::log(sum);
  for (int64_t k = 0; k < seen; ++k)
    addRow(a.result, row, a.value, first + k, s.valueSize, weights[k] /= sum);
  double common = multiply(a.gradient, row, a.result, row, s.valueSize);
  for (int64_t k = 0; k < seen; ++k) {
    double ofScore =
        weights[k] *
        (multiply(a.gradient, row, a.value, first + k, s.valueSize) - common) *
        scale;
    addRow(a.queryGradient, row, a.key, first + k, s.size, ofScore);
    addRow(a.keyGradient, first + k, a.query, row, s.size, ofScore);
    addRow(a.valueGradient, first + k, a.gradient, row, s.valueSize,
           weights[k]);
  }
}

/// Of the arrays that go in, what the definition says comes out.
static Arrays define(const Case &s, const Arrays &in) {
  Arrays a = in;
  a.result.assign(s.countRows() * s.valueSize, 0);
  a.statistics.assign(s.countRows(), 0);
  a.queryGradient.assign(in.query.size(), 0);
  a.keyGradient.assign(in.key.size(), 0);
  a.valueGradient.assign(in.value.size(), 0);
  for (int64_t row = 0; row < s.countRows(); ++row) {
    int64_t head = row / s.queries % s.heads;
    int64_t group = head / (s.heads / s.groups);
    int64_t sample = row / s.queries / s.heads;
    defineRow(s, a, row, (sample * s.groups + group) * s.keys);
  }
  return a;
}

#define SIZES(S)                                                               \
  S.batch, S.heads, S.groups, S.queries, S.keys, S.size, S.valueSize

template <typename T>
Arrays Attention::attend(const Case &s, bool keepsStatistics) {
  constexpr bool isBFloat = std::is_same_v<T, BFloat16>;
  auto query = makeNumbers<T>(s.countRows() * s.size, 1);
  auto key = makeNumbers<T>(s.countColumns() * s.size, 2);
  auto value = makeNumbers<T>(s.countColumns() * s.valueSize, 3);
  auto gradient = makeNumbers<T>(s.countRows() * s.valueSize, 4);
  T *q = upload(query), *k = upload(key), *v = upload(value),
    *g = upload(gradient);
  auto allocateLike = [&](const std::vector<T> &array) {
    return static_cast<T *>(allocate(array.size() * sizeof(T)));
  };
  T *result = allocateLike(gradient), *queryGradient = allocateLike(query),
    *keyGradient = allocateLike(key), *valueGradient = allocateLike(value);
  auto *statistics = static_cast<float *>(allocate(s.countRows() * 4));
  void *workspace = allocate(getAttentionWorkspace(s));
  auto *forward = isBFloat ? pprtCudaAttentionBF16 : pprtCudaAttentionF16;
  auto *backward =
      isBFloat ? pprtCudaAttentionGradientBF16 : pprtCudaAttentionGradientF16;
  prepareAndRun([&] {
    forward(asWords(q), asWords(k), asWords(v), asWords(result),
            keepsStatistics ? statistics : nullptr, SIZES(s), scale, s.causal);
    if (keepsStatistics)
      backward(asWords(g), asWords(q), asWords(k), asWords(v), asWords(result),
               statistics, asWords(queryGradient), asWords(keyGradient),
               asWords(valueGradient), workspace, getAttentionWorkspace(s),
               SIZES(s), scale, s.causal);
  });
  Arrays a;
  a.query = decodeAll(query);
  a.key = decodeAll(key);
  a.value = decodeAll(value);
  a.gradient = decodeAll(gradient);
  a.result = decodeAll(download(result, gradient.size()));
  if (!keepsStatistics)
    return a;
  for (float number : download(statistics, s.countRows()))
    a.statistics.push_back(number);
  a.queryGradient = decodeAll(download(queryGradient, query.size()));
  a.keyGradient = decodeAll(download(keyGradient, key.size()));
  a.valueGradient = decodeAll(download(valueGradient, value.size()));
  return a;
}

static void expectNear(const Numbers &actual, const Numbers &expected,
                       double tolerance, const char *what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double most = 1;
  for (double number : expected)
    most = std::max(most, std::abs(number));
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], tolerance * most) << what << " " << i;
}

template <typename T>
void Attention::expectDefinition() {
  // Weights and results are rounded to 8 or 11 bits.
  double tolerance = std::is_same_v<T, BFloat16> ? 0x1p-6 : 0x1p-9;
  for (const Case &s : cases) {
    SCOPED_TRACE(testing::Message() << "case " << &s - cases);
    Arrays actual = attend<T>(s, /*keepsStatistics=*/true);
    Arrays expected = define(s, actual);
    expectNear(actual.result, expected.result, tolerance, "result");
    expectNear(actual.statistics, expected.statistics, 0x1p-14, "statistics");
    expectNear(actual.queryGradient, expected.queryGradient, tolerance,
               "gradient for the query");
    expectNear(actual.keyGradient, expected.keyGradient, tolerance,
               "gradient for the key");
    expectNear(actual.valueGradient, expected.valueGradient, tolerance,
               "gradient for the value");
    freeMemory();
  }
}

TEST_F(Attention, HasResultsAndGradientsOfBF16) {
  expectDefinition<BFloat16>();
}

TEST_F(Attention, HasResultsAndGradientsOfF16) { expectDefinition<Float16>(); }

TEST_F(Attention, NeedsNoStatistics) {
  for (const Case &s : cases) {
    Arrays actual = attend<Float16>(s, /*keepsStatistics=*/false);
    expectNear(actual.result, define(s, actual).result, 0x1p-9, "result");
  }
}

TEST_F(Attention, LeavesZerosWhileItPrepares) {
  const Case &s = cases[1];
  auto *zeros = upload(std::vector<uint16_t>(256));
  auto *results = upload(std::vector<uint16_t>(256));
  auto *statistics = upload(std::vector<float>(s.countRows()));
  auto *gradients = upload(std::vector<uint16_t>(3 * 256));
  int64_t bytes = getAttentionWorkspace(s);
  auto *workspace = upload(std::vector<uint8_t>(bytes));
  prepare(true);
  pprtCudaAttentionBF16(zeros, zeros, zeros, results, statistics, SIZES(s),
                        scale, s.causal);
  pprtCudaAttentionGradientBF16(zeros, zeros, zeros, zeros, zeros, statistics,
                                gradients, gradients + 256, gradients + 512,
                                workspace, bytes, SIZES(s), scale, s.causal);
  EXPECT_EQ(download(results, 256), std::vector<uint16_t>(256));
  EXPECT_EQ(download(statistics, s.countRows()),
            std::vector<float>(s.countRows()));
  EXPECT_EQ(download(gradients, 3 * 256), std::vector<uint16_t>(3 * 256));
  EXPECT_EQ(download(workspace, bytes), std::vector<uint8_t>(bytes));
}

// What is beyond the program's workspace is there before the first step.
TEST_F(Attention, AllocatesWhatIsMissingBeforeTheFirstStep) {
  Case s = {1, 1, 1, 80, 80, 8, 8, false};
  uint16_t *zeros = upload(std::vector<uint16_t>(80 * 8));
  uint16_t *gradients = upload(std::vector<uint16_t>(3 * 80 * 8));
  float *statistics = upload(std::vector<float>(80));
  auto *workspace = upload(std::vector<uint8_t>(1024));
  prepareAndRun([&] {
    pprtCudaAttentionGradientF16(zeros, zeros, zeros, zeros, zeros, statistics,
                                 gradients, gradients + 640, gradients + 1280,
                                 workspace, 1024, SIZES(s), scale, s.causal);
  });
  EXPECT_EQ(download(gradients, 640), std::vector<uint16_t>(640));
}

using AttentionDeathTest = Attention;

TEST_F(AttentionDeathTest, SaysWhichShapeTheLibraryDoesNotCompute) {
  uint16_t *data = upload(std::vector<uint16_t>(1024));
  float *statistics = upload(std::vector<float>(64));
  Case wrong = {2, 4, 2, 3, 5, 12, 8, true};
  EXPECT_EXIT(pprtCudaAttentionBF16(data, data, data, data, statistics,
                                    SIZES(wrong), scale, wrong.causal),
              testing::ExitedWithCode(3),
              "cuDNN does not compute causal attention of bf16 in a batch of "
              "2, 4 head.s. in 2 group.s., 3 queries and 5 keys of 12 and "
              "values of 8: Embedding dim per head [a-z0-9 ]*; build with "
              "'--attention kernels'");
}

TEST_F(AttentionDeathTest, NeedsAKeyForEachQuery) {
  uint16_t *data = upload(std::vector<uint16_t>(1024));
  float *statistics = upload(std::vector<float>(64));
  Case wrong = {1, 1, 1, 5, 4, 8, 8, true};
  EXPECT_EXIT(pprtCudaAttentionGradientF16(data, data, data, data, data,
                                           statistics, data, data, data, data,
                                           1024, SIZES(wrong), scale, 1),
              testing::ExitedWithCode(3),
              "the gradient of causal attention of f16.*: the first queries "
              "see no key; build with '--attention kernels'");
}

TEST_F(AttentionDeathTest, NeedsTheWorkspaceOfTheProgram) {
  uint16_t *data = upload(std::vector<uint16_t>(1024));
  float *statistics = upload(std::vector<float>(64));
  const Case &s = cases[2];
  EXPECT_EXIT(pprtCudaAttentionGradientF16(data, data, data, data, data,
                                           statistics, data, data, data, data,
                                           16, SIZES(s), scale, 0),
              testing::ExitedWithCode(3),
              "the program has no workspace for the gradient of attention");
}
