//===- ConvolutionTests.cpp - Convolutions on a device --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are small and whole or halves, so that every type has the sums, in
// whatever order they are made.
//
//===----------------------------------------------------------------------===//

#include "DeviceNumbers.h"
#include "DeviceTest.h"
#include "Machine.h"

#include "pprt/Cuda.h"

using namespace pprt;
using namespace pprt::cuda;

namespace {
struct Case {
  int64_t batch, groups, inputChannels, outputChannels;
  int64_t input[2], kernel[2], output[2], padding[2], strides[2], dilations[2];
  bool accumulate;

  int64_t countImage() const {
    return batch * inputChannels * input[0] * input[1];
  }
  int64_t countOutput() const {
    return batch * outputChannels * output[0] * output[1];
  }
  int64_t countWeights() const {
    return outputChannels * inputChannels / groups * kernel[0] * kernel[1];
  }
};

enum class Form { Forward, InputGradient, WeightGradient };

class Convolution : public DeviceTest {
protected:
  // The real library wants more than products do.
  Convolution() {
    check(cudaFree(to.workspace), "memory");
    to.workspaceBytes = isStandIn ? 1 << 12 : 32 << 20;
    check(cudaMalloc(&to.workspace, to.workspaceBytes), "memory");
  }
};
} // namespace

static const Case cases[] = {
    // Of one axis.
    {2, 1, 3, 4, {1, 9}, {1, 3}, {1, 7}, {0, 0}, {1, 1}, {1, 1}, false},
    // Of which the last column is in no window.
    {2, 1, 3, 2, {5, 6}, {3, 3}, {3, 3}, {1, 1}, {2, 2}, {1, 1}, true},
    {1, 2, 4, 6, {7, 5}, {3, 2}, {3, 4}, {0, 0}, {1, 1}, {2, 1}, false},
    // One channel a group.
    {2, 4, 4, 4, {4, 4}, {3, 3}, {4, 4}, {1, 1}, {1, 1}, {1, 1}, true},
    {3, 1, 2, 5, {3, 4}, {1, 1}, {3, 4}, {0, 0}, {1, 1}, {1, 1}, false}};

/// Calls \p visit with the indices of each image element, weight and output
/// element that belong together.
template <typename VisitT>
static void forEachTerm(const Case &s, VisitT visit) {
  int64_t inputs = s.inputChannels / s.groups;
  int64_t outputs = s.outputChannels / s.groups;
  int64_t positions = s.output[0] * s.output[1];
  for (int64_t o = 0; o < s.countOutput(); ++o)
    for (int64_t k = 0; k < inputs * s.kernel[0] * s.kernel[1]; ++k) {
      int64_t sample = o / positions / s.outputChannels;
      int64_t to = o / positions % s.outputChannels;
      int64_t from = to / outputs * inputs + k / (s.kernel[0] * s.kernel[1]);
      int64_t row = o % positions / s.output[1] * s.strides[0] +
                    k / s.kernel[1] % s.kernel[0] * s.dilations[0] -
                    s.padding[0];
      int64_t column = o % s.output[1] * s.strides[1] +
                       k % s.kernel[1] * s.dilations[1] - s.padding[1];
      if (row >= 0 && row < s.input[0] && column >= 0 && column < s.input[1])
        visit(((sample * s.inputChannels + from) * s.input[0] + row) *
                      s.input[1] +
                  column,
              to * inputs * s.kernel[0] * s.kernel[1] + k, o);
    }
}

#define SIZES(S)                                                               \
  S.batch, S.groups, S.inputChannels, S.outputChannels, S.input[0],            \
      S.input[1], S.kernel[0], S.kernel[1], S.output[0], S.output[1],          \
      S.padding[0], S.padding[1], S.strides[0], S.strides[1], S.dilations[0],  \
      S.dilations[1]

/// Expects of all cases what the definition says. \p call gets the operands and
/// what is in the place of the result, and returns that when it is done.
template <typename T, typename CallT>
static void expectSums(Form form, CallT call) {
  for (const Case &s : cases) {
    auto images = makeHalves<T>(s.countImage(), 1);
    auto weights = makeHalves<T>(s.countWeights(), 2);
    auto outputs = makeHalves<T>(s.countOutput(), 3);
    const std::vector<T> &before = form == Form::Forward         ? outputs
                                   : form == Form::InputGradient ? images
                                                                 : weights;
    std::vector<double> image = decodeAll(images), weight = decodeAll(weights),
                        output = decodeAll(outputs);
    std::vector<double> expected(before.size(), 0);
    if (s.accumulate)
      expected = decodeAll(before);
    forEachTerm(s, [&](int64_t i, int64_t w, int64_t o) {
      if (form == Form::Forward)
        expected[o] += image[i] * weight[w];
      else if (form == Form::InputGradient)
        expected[i] += output[o] * weight[w];
      else
        expected[w] += output[o] * image[i];
    });
    const std::vector<T> &a = form == Form::Forward ? images : outputs;
    const std::vector<T> &b = form == Form::WeightGradient ? images : weights;
    EXPECT_EQ(decodeAll(call(s, a, b, before)), expected)
        << "case " << &s - cases;
  }
}

#define EXPECT_CONVOLUTIONS(FORM, NAME, T)                                     \
  expectSums<T>(Form::FORM, [&](const Case &s, const std::vector<T> &a,        \
                                const std::vector<T> &b,                       \
                                const std::vector<T> &before) {                \
    T *left = upload(a), *right = upload(b), *result = upload(before);         \
    prepareAndRun([&] {                                                        \
      pprtCudaConvolution##NAME(asWords(left), asWords(right),                 \
                                asWords(result), SIZES(s), s.accumulate);      \
    });                                                                        \
    return download(result, before.size());                                    \
  })

TEST_F(Convolution, ConvolvesEveryType) {
  EXPECT_CONVOLUTIONS(Forward, F32, float);
  EXPECT_CONVOLUTIONS(Forward, BF16, BFloat16);
  EXPECT_CONVOLUTIONS(Forward, F16, Float16);
}

TEST_F(Convolution, HasTheGradientForTheInput) {
  EXPECT_CONVOLUTIONS(InputGradient, InputGradientF32, float);
  EXPECT_CONVOLUTIONS(InputGradient, InputGradientBF16, BFloat16);
  EXPECT_CONVOLUTIONS(InputGradient, InputGradientF16, Float16);
}

TEST_F(Convolution, HasTheGradientForTheWeights) {
  EXPECT_CONVOLUTIONS(WeightGradient, WeightGradientF32, float);
  EXPECT_CONVOLUTIONS(WeightGradient, WeightGradientBF16, BFloat16);
  EXPECT_CONVOLUTIONS(WeightGradient, WeightGradientF16, Float16);
}

/// One number by one weight.
static const Case single = {1,      1,      1,      1,      {1, 1}, {1, 1},
                            {1, 1}, {0, 0}, {1, 1}, {1, 1}, false};

TEST_F(Convolution, ChangesNothingWhileItPrepares) {
  float *image = upload<float>({2}), *weights = upload<float>({3});
  float *output = upload<float>({5});
  prepare(true);
  pprtCudaConvolutionF32(image, weights, output, SIZES(single), false);
  EXPECT_EQ(download(output, 1)[0], 5);
}

// Both are made: a plan is of one kind of arithmetic.
TEST_F(Convolution, RoundsOperandsOfF32IfItMay) {
  if (!isStandIn)
    GTEST_SKIP() << "the library need not make use of it";
  float *image = upload<float>({1 + 0x1p-12F}), *weights = upload<float>({1});
  float *outputs = upload<float>({0, 0});
  pprtCudaConvolutionF32(image, weights, outputs, SIZES(single), false);
  to.allowsTf32 = true;
  pprtCudaConvolutionF32(image, weights, outputs + 1, SIZES(single), false);
  EXPECT_EQ(download(outputs, 2), (std::vector<float>{1 + 0x1p-12F, 1}));
}

using ConvolutionDeathTest = Convolution;

TEST_F(ConvolutionDeathTest, SaysWhichShapeTheLibraryDoesNotCompute) {
  float *data = upload<float>(std::vector<float>(64));
  Case wrong = cases[2];
  wrong.output[1] = 3;
  EXPECT_EXIT(
      pprtCudaConvolutionWeightGradientF32(data, data, data, SIZES(wrong),
                                           false),
      testing::ExitedWithCode(3),
      "cuDNN does not compute the gradient for the weights of a convolution of "
      "f32, 1 x 4 x 7 x 5 by 6 x 2 x 3 x 2 to 1 x 6 x 3 x 3 in 2 group.s., "
      "with padding 0 x 0, strides 1 x 1 and dilations 2 x 1 within .* bytes "
      "of workspace: .*; build with '--convolutions kernels'");
}

TEST_F(ConvolutionDeathTest, NeedsMemoryForTheLibrary) {
  if (!isStandIn)
    GTEST_SKIP() << "the library may do without";
  float *data = upload<float>({1});
  to.workspaceBytes = 16;
  EXPECT_EXIT(pprtCudaConvolutionF32(data, data, data, SIZES(single), false),
              testing::ExitedWithCode(3), "within 16 bytes of workspace");
}
