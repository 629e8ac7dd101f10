//===- EpilogueTests.cpp - What follows products, on a device -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceNumbers.h"
#include "DeviceTest.h"
#include "Machine.h"

#include "pprt/Cuda.h"

#include <cmath>
#include <cstdlib>

using namespace pprt;
using namespace pprt::cuda;

/// By tanh, and its derivative.
static double gelu(double x) {
  return x / 2 *
         (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static double geluGradient(double x) {
  constexpr double step = 1e-5;
  return (gelu(x + step) - gelu(x - step)) / (2 * step);
}

namespace {
/// The sizes of a product; rows of auxiliary are as long as a multiple of 8.
constexpr int64_t m = 3, n = 8, k = 4;

/// What a layer computes by one epilogue, and in which ways it did so far.
class Epilogue : public DeviceTest {
protected:
  /// Runs the loop of a layer. The other way is so many copies.
  void run(int64_t parts, int copies, int64_t columns = n) {
    while (int32_t way =
               pprtCudaChooseEpilogueF32(a, b, c, m, columns, k, parts, 0, 0)) {
      ways.push_back(way);
      if (way == PPRT_WAY_LIBRARY)
        pprtCudaEpilogueF32(a, b, c, bias, auxiliary, m, columns, k, parts, 0,
                            0, 0);
      for (int i = 0; way == PPRT_WAY_KERNELS && i < copies; ++i)
        pprtCudaCopy(other, c, sizeof(float));
    }
  }

  /// The ways since the last call.
  std::vector<int32_t> takeWays() { return std::exchange(ways, {}); }

  /// Those of a step after what was prepared so far.
  std::vector<int32_t> runStep(int64_t parts, int copies) {
    takeWays();
    prepare(false);
    run(parts, copies);
    synchronize();
    return takeWays();
  }

  float *a = upload(std::vector<float>(m * k, 1));
  float *b = upload(std::vector<float>(k * n, 1));
  float *c = upload(std::vector<float>(m * n));
  float *bias = upload(std::vector<float>(n, 1));
  float *auxiliary = upload(std::vector<float>(m * n));
  float *other = upload(std::vector<float>(1));

private:
  std::vector<int32_t> ways;
};

using EpilogueDeathTest = Epilogue;

using Ways = std::vector<int32_t>;
} // namespace

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

template <typename T>
static std::vector<T> makeNumbers(int64_t count, int64_t seed) {
  return encodeEach<T>(
      count, [=](int64_t i) { return float((seed + i * i) % 5) / 4 - 0.5F; });
}

/// Of the left operand across and the right one along its rows.
template <typename T>
static double multiply(const std::vector<T> &a, const std::vector<T> &b,
                       int64_t row, int64_t column) {
  double sum = 0;
  for (int64_t l = 0; l < k; ++l)
    sum += decode(a[l * m + row]) * decode(b[column * k + l]);
  return sum;
}

/// What \p parts make of a product.
static double finish(int64_t parts, double value, double bias, double before) {
  if (parts & PPRT_EPILOGUE_BIAS)
    value += bias;
  if (parts & PPRT_EPILOGUE_RELU)
    return std::max(value, 0.0);
  if (parts & PPRT_EPILOGUE_GELU)
    return gelu(value);
  return parts & PPRT_EPILOGUE_GELU_GRADIENT ? value * geluGradient(before)
                                             : value;
}

static const int64_t kinds[] = {PPRT_EPILOGUE_BIAS,
                                PPRT_EPILOGUE_RELU,
                                PPRT_EPILOGUE_BIAS | PPRT_EPILOGUE_RELU,
                                PPRT_EPILOGUE_GELU,
                                PPRT_EPILOGUE_BIAS | PPRT_EPILOGUE_GELU,
                                PPRT_EPILOGUE_KEEP | PPRT_EPILOGUE_GELU,
                                PPRT_EPILOGUE_BIAS | PPRT_EPILOGUE_KEEP |
                                    PPRT_EPILOGUE_GELU,
                                PPRT_EPILOGUE_GELU_GRADIENT};

#define EXPECT_EPILOGUES(TYPE, ELEMENT, TOLERANCE)                             \
  to.epilogues = Epilogues::Library;                                           \
  for (int64_t parts : kinds) {                                                \
    auto lefts = makeNumbers<ELEMENT>(m * k, 1);                               \
    auto rights = makeNumbers<ELEMENT>(k * n, 2);                              \
    auto biases = makeNumbers<ELEMENT>(n, 3);                                  \
    auto befores = makeNumbers<ELEMENT>(m * n, 4);                             \
    ELEMENT *left = upload(lefts), *right = upload(rights);                    \
    ELEMENT *vector = upload(biases), *matrix = upload(befores);               \
    ELEMENT *result = upload(befores);                                         \
    prepareAndRun([&] {                                                        \
      while (int32_t way = pprtCudaChooseEpilogue##TYPE(                       \
                 asWords(left), asWords(right), asWords(result), m, n, k,      \
                 parts, 1, 1)) {                                               \
        EXPECT_EQ(way, PPRT_WAY_LIBRARY);                                      \
        pprtCudaEpilogue##TYPE(asWords(left), asWords(right), asWords(result), \
                               asWords(vector), asWords(matrix), m, n, k,      \
                               parts, 1, 1, 0);                                \
      }                                                                        \
    });                                                                        \
    auto results = download(result, m * n), kept = download(matrix, m * n);    \
    for (int64_t i = 0; i < m * n; ++i) {                                      \
      double product = multiply(lefts, rights, i / n, i % n);                  \
      double before = decode(befores[i]), added = decode(biases[i % n]);       \
      EXPECT_NEAR(decode(results[i]), finish(parts, product, added, before),   \
                  TOLERANCE)                                                   \
          << "element " << i << " of " << parts;                               \
      if (parts & PPRT_EPILOGUE_KEEP)                                          \
        before = product + (parts & PPRT_EPILOGUE_BIAS ? added : 0);           \
      EXPECT_NEAR(decode(kept[i]), before, TOLERANCE)                          \
          << "auxiliary " << i << " of " << parts;                             \
    }                                                                          \
  }

TEST_F(Epilogue, ComputesF32){
    EXPECT_EPILOGUES(F32, float, 1e-6)} TEST_F(Epilogue, ComputesBF16){
    EXPECT_EPILOGUES(BF16, BFloat16, 1e-2)} TEST_F(Epilogue, ComputesF16){
    EXPECT_EPILOGUES(F16, Float16, 1e-3)}

/// Adds a product to what is there, and sums an operand over its terms.
#define EXPECT_SUMS(TYPES, OPERAND)                                            \
  to.epilogues = Epilogues::Library;                                           \
  for (bool isOfA : {false, true}) {                                           \
    int64_t parts = isOfA ? PPRT_EPILOGUE_SUMS_A : PPRT_EPILOGUE_SUMS_B;       \
    int64_t count = isOfA ? m : n;                                             \
    auto lefts = makeNumbers<OPERAND>(m * k, 1);                               \
    auto rights = makeNumbers<OPERAND>(k * n, 2);                              \
    auto befores = makeNumbers<float>(m * n, 3);                               \
    OPERAND *left = upload(lefts), *right = upload(rights);                    \
    float *result = upload(befores), *sums = upload(std::vector<float>(n));    \
    prepare(true);                                                             \
    pprtCudaEpilogue##TYPES(asWords(left), asWords(right), result, sums,       \
                            result, m, n, k, parts, 1, 0, /*accumulate=*/1);   \
    auto results = download(result, m * n), summed = download(sums, count);    \
    for (int64_t i = 0; i < m * n; ++i) {                                      \
      double product = befores[i];                                             \
      for (int64_t l = 0; l < k; ++l)                                          \
        product +=                                                             \
            decode(lefts[l * m + i / n]) * decode(rights[l * n + i % n]);      \
      EXPECT_EQ(results[i], product) << "element " << i << " of " << parts;    \
    }                                                                          \
    for (int64_t i = 0; i < count; ++i) {                                      \
      double sum = 0;                                                          \
      for (int64_t l = 0; l < k; ++l)                                          \
        sum += decode((isOfA ? lefts : rights)[l * count + i]);                \
      EXPECT_EQ(summed[i], sum) << "sum " << i << " of " << parts;             \
    }                                                                          \
  }

TEST_F(Epilogue, SumsOperandsOfF32){
    EXPECT_SUMS(F32, float)} TEST_F(Epilogue, SumsOperandsOfBF16){
    EXPECT_SUMS(BF16F32, BFloat16)} TEST_F(Epilogue, SumsOperandsOfF16){
    EXPECT_SUMS(F16F32, Float16)}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

TEST_F(Epilogue, TriesBothWaysAndTakesTheFasterOne) {
  if (!isStandIn)
    GTEST_SKIP() << "which one is faster is not known";
  prepare(true);
  run(PPRT_EPILOGUE_BIAS, /*copies=*/2);
  Ways tried = takeWays();
  EXPECT_EQ((Ways{tried[0], tried[1]}),
            (Ways{PPRT_WAY_LIBRARY, PPRT_WAY_KERNELS}));
  EXPECT_EQ(std::count(tried.begin(), tried.end(), PPRT_WAY_LIBRARY),
            std::count(tried.begin(), tried.end(), PPRT_WAY_KERNELS));
  EXPECT_TRUE(to.preparing);
  EXPECT_EQ(runStep(PPRT_EPILOGUE_BIAS, 2), Ways{PPRT_WAY_LIBRARY});

  prepare(true);
  run(PPRT_EPILOGUE_RELU, /*copies=*/0);
  EXPECT_EQ(runStep(PPRT_EPILOGUE_RELU, 0), Ways{PPRT_WAY_KERNELS});
  // The first choice is not forgotten.
  EXPECT_EQ(runStep(PPRT_EPILOGUE_BIAS, 2), Ways{PPRT_WAY_LIBRARY});
}

TEST_F(Epilogue, ChoosesOnceForAllAlike) {
  prepare(true);
  run(PPRT_EPILOGUE_BIAS, /*copies=*/2);
  EXPECT_GT(takeWays().size(), 2U);
  run(PPRT_EPILOGUE_BIAS, /*copies=*/2);
  EXPECT_EQ(takeWays().size(), 1U);
  // What is measured of another kind, or of another size, is measured anew.
  run(PPRT_EPILOGUE_BIAS | PPRT_EPILOGUE_RELU, /*copies=*/2);
  EXPECT_GT(takeWays().size(), 2U);
  run(PPRT_EPILOGUE_BIAS, /*copies=*/2, /*columns=*/4);
  EXPECT_GT(takeWays().size(), 2U);
  // And so is all when it was released.
  release();
  run(PPRT_EPILOGUE_BIAS, /*copies=*/2);
  EXPECT_GT(takeWays().size(), 2U);
}

TEST_F(Epilogue, ChangesNothingInTheKernelsWayWhenThatIsFixed) {
  to.epilogues = Epilogues::Kernels;
  prepare(true);
  run(PPRT_EPILOGUE_BIAS, /*copies=*/1);
  EXPECT_EQ(takeWays(), Ways{PPRT_WAY_KERNELS});
  EXPECT_EQ(runStep(PPRT_EPILOGUE_BIAS, 1), Ways{PPRT_WAY_KERNELS});
}

TEST_F(Epilogue, TakesTheLibraryWhenThatIsFixed) {
  to.epilogues = Epilogues::Library;
  prepare(true);
  run(PPRT_EPILOGUE_BIAS, /*copies=*/0);
  EXPECT_EQ(takeWays(), Ways{PPRT_WAY_LIBRARY});
  EXPECT_EQ(runStep(PPRT_EPILOGUE_BIAS, 0), Ways{PPRT_WAY_LIBRARY});
}

// Rows of what is kept are not of a multiple of 8 elements.
TEST_F(Epilogue, TakesKernelsForWhatTheLibraryDoesNotCompute) {
  if (!isStandIn)
    GTEST_SKIP() << "the library may compute it";
  constexpr int64_t parts = PPRT_EPILOGUE_KEEP | PPRT_EPILOGUE_GELU;
  to.epilogues = Epilogues::Library;
  prepare(true);
  run(parts, /*copies=*/1, /*columns=*/6);
  EXPECT_EQ(takeWays(), Ways{PPRT_WAY_KERNELS});
}

TEST_F(Epilogue, ReadsTheEnvironment) {
  EXPECT_EQ(ComputeStream().epilogues, Epilogues::Measured);
  for (auto [text, expected] : {std::pair("library", Epilogues::Library),
                                std::pair("kernels", Epilogues::Kernels),
                                std::pair("measure", Epilogues::Measured)}) {
    setenv("PIPEWRIGHT_EPILOGUES", text, /*overwrite=*/1);
    EXPECT_EQ(ComputeStream().epilogues, expected);
  }
  setenv("PIPEWRIGHT_EPILOGUES", "fast", /*overwrite=*/1);
  EXPECT_EQ(getWantedEpilogues(), std::nullopt);
  unsetenv("PIPEWRIGHT_EPILOGUES");
}
