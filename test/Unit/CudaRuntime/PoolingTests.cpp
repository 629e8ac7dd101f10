//===- PoolingTests.cpp - Pooling on a device -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are few, so that windows have several that are the largest, and whole
// or halves; windows of averages have 2 or 4 elements. So every type has all
// results.
//
//===----------------------------------------------------------------------===//

#include "DeviceNumbers.h"
#include "DeviceTest.h"
#include "Machine.h"

#include "pprt/Cuda.h"

#include <cmath>
#include <limits>

using namespace pprt;
using namespace pprt::cuda;

namespace {
struct Case {
  int64_t batch, channels;
  int64_t input[2], kernel[2], output[2], padding[2], strides[2];

  int64_t countImage() const { return batch * channels * input[0] * input[1]; }
  int64_t countOutput() const {
    return batch * channels * output[0] * output[1];
  }
  int64_t countKernel() const { return kernel[0] * kernel[1]; }
};

class Pooling : public DeviceTest {};
} // namespace

static const Case cases[] = {
    // Of one axis.
    {2, 3, {1, 9}, {1, 2}, {1, 8}, {0, 0}, {1, 1}},
    // Of which the last column is in no window.
    {2, 3, {5, 7}, {2, 2}, {3, 4}, {1, 1}, {2, 2}},
    // Windows apart.
    {1, 2, {4, 8}, {2, 1}, {2, 3}, {0, 0}, {2, 3}},
    {1, 2, {4, 4}, {4, 1}, {5, 4}, {2, 0}, {1, 1}}};

template <typename T>
static std::vector<T> makeNumbers(int64_t count, int64_t seed) {
  return encodeEach<T>(
      count, [=](int64_t i) { return float((seed + i * i) % 3) - 1; });
}

/// Calls \p visit with the index of each image element in the window of output
/// element \p o, by rows.
template <typename VisitT>
static void forEachElement(const Case &s, int64_t o, VisitT visit) {
  int64_t plane = o / (s.output[0] * s.output[1]);
  for (int64_t k = 0; k < s.countKernel(); ++k) {
    int64_t row = o / s.output[1] % s.output[0] * s.strides[0] +
                  k / s.kernel[1] - s.padding[0];
    int64_t column =
        o % s.output[1] * s.strides[1] + k % s.kernel[1] - s.padding[1];
    if (row >= 0 && row < s.input[0] && column >= 0 && column < s.input[1])
      visit((plane * s.input[0] + row) * s.input[1] + column);
  }
}

/// The largest of each window, and which one of the elements has its gradient.
static std::pair<std::vector<double>, std::vector<int64_t>>
findLargest(const Case &s, const std::vector<double> &image) {
  std::vector<double> largest(s.countOutput(), -INFINITY);
  std::vector<int64_t> places(s.countOutput(), -1);
  for (int64_t o = 0; o < s.countOutput(); ++o)
    forEachElement(s, o, [&](int64_t i) {
      if (image[i] <= largest[o])
        return;
      largest[o] = image[i];
      places[o] = i;
    });
  return {largest, places};
}

static std::vector<double> addUp(const Case &s,
                                 const std::vector<double> &image) {
  std::vector<double> sums(s.countOutput());
  for (int64_t o = 0; o < s.countOutput(); ++o)
    forEachElement(s, o, [&](int64_t i) { sums[o] += image[i]; });
  return sums;
}

static std::vector<double> divide(std::vector<double> sums, int64_t count) {
  for (double &sum : sums)
    sum /= count;
  return sums;
}

#define SIZES(S)                                                               \
  S.batch, S.channels, S.input[0], S.input[1], S.kernel[0], S.kernel[1],       \
      S.output[0], S.output[1], S.padding[0], S.padding[1], S.strides[0],      \
      S.strides[1]

/// Runs the definition that follows for all types.
#define FOR_EACH_TYPE(CHECK)                                                   \
  CHECK(F32, float)                                                            \
  CHECK(BF16, BFloat16)                                                        \
  CHECK(F16, Float16)

TEST_F(Pooling, FindsTheLargest) {
#define CHECK(TYPE, T)                                                         \
  for (const Case &s : cases) {                                                \
    auto image = makeNumbers<T>(s.countImage(), 1);                            \
    T *x = upload(image), *y = upload(std::vector<T>(s.countOutput()));        \
    prepareAndRun(                                                             \
        [&] { pprtCudaPoolingMax##TYPE(asWords(x), asWords(y), SIZES(s)); });  \
    EXPECT_EQ(decodeAll(download(y, s.countOutput())),                         \
              findLargest(s, decodeAll(image)).first)                          \
        << #TYPE " case " << &s - cases;                                       \
  }
  FOR_EACH_TYPE(CHECK)
#undef CHECK
}

TEST_F(Pooling, GivesTheGradientToTheFirstOfTheLargest) {
#define CHECK(TYPE, T)                                                         \
  for (const Case &s : cases) {                                                \
    auto image = makeNumbers<T>(s.countImage(), 1);                            \
    auto gradient = makeNumbers<T>(s.countOutput(), 2);                        \
    auto [largest, places] = findLargest(s, decodeAll(image));                 \
    std::vector<double> expected(s.countImage());                              \
    for (int64_t o = 0; o < s.countOutput(); ++o)                              \
      expected[places[o]] += decode(gradient[o]);                              \
    std::vector<T> pooled(s.countOutput());                                    \
    for (int64_t o = 0; o < s.countOutput(); ++o)                              \
      fromFloat(float(largest[o]), pooled[o]);                                 \
    T *x = upload(image), *y = upload(pooled), *dy = upload(gradient);         \
    T *dx = upload(std::vector<T>(s.countImage()));                            \
    prepareAndRun([&] {                                                        \
      pprtCudaPoolingMaxGradient##TYPE(asWords(x), asWords(y), asWords(dy),    \
                                       asWords(dx), SIZES(s));                 \
    });                                                                        \
    EXPECT_EQ(decodeAll(download(dx, s.countImage())), expected)               \
        << #TYPE " case " << &s - cases;                                       \
  }
  FOR_EACH_TYPE(CHECK)
#undef CHECK
}

TEST_F(Pooling, AddsUpAndAverages) {
#define CHECK(TYPE, T)                                                         \
  for (const Case &s : cases) {                                                \
    auto image = makeNumbers<T>(s.countImage(), 1);                            \
    T *x = upload(image), *sum = upload(std::vector<T>(s.countOutput()));      \
    T *average = upload(std::vector<T>(s.countOutput()));                      \
    prepareAndRun([&] {                                                        \
      pprtCudaPoolingSum##TYPE(asWords(x), asWords(sum), SIZES(s));            \
      pprtCudaPoolingAverage##TYPE(asWords(x), asWords(average), SIZES(s));    \
    });                                                                        \
    std::vector<double> sums = addUp(s, decodeAll(image));                     \
    EXPECT_EQ(decodeAll(download(sum, sums.size())), sums)                     \
        << #TYPE " case " << &s - cases;                                       \
    EXPECT_EQ(decodeAll(download(average, sums.size())),                       \
              divide(sums, s.countKernel()))                                   \
        << #TYPE " case " << &s - cases;                                       \
  }
  FOR_EACH_TYPE(CHECK)
#undef CHECK
}

TEST_F(Pooling, GivesTheGradientOfSumsAndAveragesToAll) {
#define CHECK(TYPE, T)                                                         \
  for (const Case &s : cases) {                                                \
    auto gradient = makeNumbers<T>(s.countOutput(), 2);                        \
    std::vector<double> sums(s.countImage());                                  \
    for (int64_t o = 0; o < s.countOutput(); ++o)                              \
      forEachElement(s, o,                                                     \
                     [&](int64_t i) { sums[i] += decode(gradient[o]); });      \
    T *dy = upload(gradient), *sum = upload(std::vector<T>(sums.size()));      \
    T *average = upload(std::vector<T>(sums.size()));                          \
    prepareAndRun([&] {                                                        \
      pprtCudaPoolingSumGradient##TYPE(asWords(dy), asWords(sum), SIZES(s));   \
      pprtCudaPoolingAverageGradient##TYPE(asWords(dy), asWords(average),      \
                                           SIZES(s));                          \
    });                                                                        \
    EXPECT_EQ(decodeAll(download(sum, sums.size())), sums)                     \
        << #TYPE " case " << &s - cases;                                       \
    EXPECT_EQ(decodeAll(download(average, sums.size())),                       \
              divide(sums, s.countKernel()))                                   \
        << #TYPE " case " << &s - cases;                                       \
  }
  FOR_EACH_TYPE(CHECK)
#undef CHECK
}

/// Two numbers in a window.
static const Case single = {1, 1, {1, 2}, {1, 2}, {1, 1}, {0, 0}, {1, 1}};

TEST_F(Pooling, FindsNaN) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  float *image = upload<float>({1, nan}), *output = upload<float>({0});
  pprtCudaPoolingMaxF32(image, output, SIZES(single));
  EXPECT_TRUE(std::isnan(download(output, 1)[0]));
}

TEST_F(Pooling, ChangesNothingWhileItPrepares) {
  float *image = upload<float>({2, 4}), *output = upload<float>({5});
  prepare(true);
  pprtCudaPoolingMaxF32(image, output, SIZES(single));
  pprtCudaPoolingSumF32(image, output, SIZES(single));
  pprtCudaPoolingSumGradientF32(output, image, SIZES(single));
  EXPECT_EQ(download(output, 1)[0], 5);
  EXPECT_EQ(download(image, 2), (std::vector<float>{2, 4}));
}

using PoolingDeathTest = Pooling;

TEST_F(PoolingDeathTest, SaysWhichShapeTheLibraryDoesNotCompute) {
  float *data = upload<float>(std::vector<float>(64));
  Case wrong = cases[2];
  wrong.output[1] = 4;
  prepare(true);
  EXPECT_EXIT(
      pprtCudaPoolingSumGradientF32(data, data, SIZES(wrong)),
      testing::ExitedWithCode(3),
      "cuDNN does not compute the gradient of averages of f32, 1 x 2 x 4 x 8 "
      "in windows of 2 x 1 to 1 x 2 x 2 x 4, with padding 0 x 0 and strides "
      "2 x 3: .*; build with '--convolutions kernels'");
}
