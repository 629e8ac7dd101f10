//===- Pooling.cpp - Pooling on cuDNN -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums are averages that count padding, times the number of elements. Of equal
// elements that are the largest, one has the gradient, in the mode in which all
// runs have the same bits the first.
//
//===----------------------------------------------------------------------===//

#include "Pooling.h"
#include "Cudnn.h"
#include "CudnnTensor.h"
#include "Plans.h"
#include "Stream.h"
#include "pprt/Cuda.h"

#include <tuple>

using namespace pprt;
using namespace pprt::cuda;

namespace {
struct Shape {
  cudnnPoolingMode_t mode;
  cudnnDataType_t type;
  int batch, channels;
  Pair input, kernel, output, padding, strides;

  std::array<int, 4> getImage() const {
    return {batch, channels, input[0], input[1]};
  }
  std::array<int, 4> getOutput() const {
    return {batch, channels, output[0], output[1]};
  }
  std::string describe() const;
  auto tie() const {
    return std::tie(mode, type, batch, channels, input, kernel, output, padding,
                    strides);
  }
};

/// How one shape is described.
class Plan {
public:
  explicit Plan(const PlanKey<Shape> &key);
  ~Plan();
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;

  /// output = alpha (what is pooled of the image) + beta output
  void run(float alpha, const void *image, float beta, void *output) const;
  /// imageGradient = alpha (what each element has of the output's gradient) +
  /// beta imageGradient
  void runGradient(float alpha, const void *image, const void *output,
                   const void *outputGradient, float beta,
                   void *imageGradient) const;

private:
  std::string text;
  cudnnTensorDescriptor_t image, output;
  cudnnPoolingDescriptor_t pooling;
};
} // namespace

std::string Shape::describe() const {
  return std::string(mode == CUDNN_POOLING_MAX_DETERMINISTIC ? "the largest"
                                                             : "averages") +
         " of " + getName(type) + ", " + join(getImage()) + " in windows of " +
         join(kernel) + " to " + join(getOutput()) + ", with padding " +
         join(padding) + " and strides " + join(strides);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static constexpr const char *cannotDescribe =
    "cannot describe pooling to cuDNN";

Plan::Plan(const PlanKey<Shape> &key) : text(key.shape.describe()) {
  const Shape &s = key.shape;
  const Cudnn &cudnn = getCudnn();
  image = makeTensor(s.type, s.getImage(), cannotDescribe);
  output = makeTensor(s.type, s.getOutput(), cannotDescribe);
  check(cudnn.cudnnCreatePoolingDescriptor(&pooling), cannotDescribe);
  check(cudnn.cudnnSetPoolingNdDescriptor(pooling, s.mode, CUDNN_PROPAGATE_NAN,
                                          s.kernel.size(), s.kernel.data(),
                                          s.padding.data(), s.strides.data()),
        cannotDescribe);
}

Plan::~Plan() {
  const Cudnn &cudnn = getCudnn();
  cudnn.cudnnDestroyPoolingDescriptor(pooling);
  for (cudnnTensorDescriptor_t tensor : {image, output})
    cudnn.cudnnDestroyTensorDescriptor(tensor);
}

/// What the library does not compute it says before the first step.
static void checkRun(cudnnStatus_t status, const char *what,
                     const std::string &text) {
  if (status != CUDNN_STATUS_SUCCESS && getComputeStream().preparing)
    fail(ExitCode::Data, std::string("cuDNN does not compute ") + what + text +
                             ": " + getCudnn().cudnnGetErrorString(status) +
                             "; build with '--convolutions kernels'");
  check(status, "cannot pool");
}

void Plan::run(float alpha, const void *data, float beta, void *result) const {
  checkRun(getCudnn().cudnnPoolingForward(getCudnnHandle(), pooling, &alpha,
                                          image, data, &beta, output, result),
           "", text);
}

void Plan::runGradient(float alpha, const void *imageData,
                       const void *outputData, const void *outputGradient,
                       float beta, void *imageGradient) const {
  checkRun(getCudnn().cudnnPoolingBackward(
               getCudnnHandle(), pooling, &alpha, output, outputData, output,
               outputGradient, image, imageData, &beta, image, imageGradient),
           "the gradient of ", text);
}

static Plans<Shape, Plan> &getPlans() {
  static Plans<Shape, Plan> plans;
  return plans;
}

void cuda::forgetPooling() { getPlans().forget(); }

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Before the first step all memory is zero, so that nothing times zero is not
/// a number; added to what is there it changes nothing.
static float getAlpha(float factor) {
  return getComputeStream().preparing ? 0 : factor;
}
static float getBeta() { return getComputeStream().preparing ? 1 : 0; }

static void pool(const Shape &shape, float factor, const void *image,
                 void *output) {
  getPlans().get(shape).run(getAlpha(factor), image, getBeta(), output);
}

static void poolGradient(const Shape &shape, float factor, const void *image,
                         const void *output, const void *outputGradient,
                         void *imageGradient) {
  getPlans().get(shape).runGradient(getAlpha(factor), image, output,
                                    outputGradient, getBeta(), imageGradient);
}

#define PPRT_POOLING_SHAPE(MODE, TYPE)                                         \
  {CUDNN_POOLING_##MODE,                                                       \
   TYPE,                                                                       \
   int(batch),                                                                 \
   int(channels),                                                              \
   makePair(inputHeight, inputWidth),                                          \
   makePair(kernelHeight, kernelWidth),                                        \
   makePair(outputHeight, outputWidth),                                        \
   makePair(paddingHeight, paddingWidth),                                      \
   makePair(strideHeight, strideWidth)}
// Averages are of neither image nor output, but something has to be there.
#define PPRT_DEFINE_POOLING(TYPES, TYPE, ELEMENT)                              \
  void pprtCudaPoolingMax##TYPES(const ELEMENT *image, ELEMENT *output,        \
                                 PPRT_POOLING_SIZES) {                         \
    pool(PPRT_POOLING_SHAPE(MAX_DETERMINISTIC, TYPE), 1, image, output);       \
  }                                                                            \
  void pprtCudaPoolingSum##TYPES(const ELEMENT *image, ELEMENT *output,        \
                                 PPRT_POOLING_SIZES) {                         \
    pool(PPRT_POOLING_SHAPE(AVERAGE_COUNT_INCLUDE_PADDING, TYPE),              \
         kernelHeight * kernelWidth, image, output);                           \
  }                                                                            \
  void pprtCudaPoolingAverage##TYPES(const ELEMENT *image, ELEMENT *output,    \
                                     PPRT_POOLING_SIZES) {                     \
    pool(PPRT_POOLING_SHAPE(AVERAGE_COUNT_INCLUDE_PADDING, TYPE), 1, image,    \
         output);                                                              \
  }                                                                            \
  void pprtCudaPoolingMaxGradient##TYPES(                                      \
      const ELEMENT *image, const ELEMENT *output,                             \
      const ELEMENT *outputGradient, ELEMENT *imageGradient,                   \
      PPRT_POOLING_SIZES) {                                                    \
    poolGradient(PPRT_POOLING_SHAPE(MAX_DETERMINISTIC, TYPE), 1, image,        \
                 output, outputGradient, imageGradient);                       \
  }                                                                            \
  void pprtCudaPoolingSumGradient##TYPES(const ELEMENT *outputGradient,        \
                                         ELEMENT *imageGradient,               \
                                         PPRT_POOLING_SIZES) {                 \
    poolGradient(PPRT_POOLING_SHAPE(AVERAGE_COUNT_INCLUDE_PADDING, TYPE),      \
                 kernelHeight * kernelWidth, imageGradient, outputGradient,    \
                 outputGradient, imageGradient);                               \
  }                                                                            \
  void pprtCudaPoolingAverageGradient##TYPES(const ELEMENT *outputGradient,    \
                                             ELEMENT *imageGradient,           \
                                             PPRT_POOLING_SIZES) {             \
    poolGradient(PPRT_POOLING_SHAPE(AVERAGE_COUNT_INCLUDE_PADDING, TYPE), 1,   \
                 imageGradient, outputGradient, outputGradient,                \
                 imageGradient);                                               \
  }
PPRT_DEFINE_POOLING(F32, CUDNN_DATA_FLOAT, float)
PPRT_DEFINE_POOLING(BF16, CUDNN_DATA_BFLOAT16, uint16_t)
PPRT_DEFINE_POOLING(F16, CUDNN_DATA_HALF, uint16_t)
#undef PPRT_DEFINE_POOLING
#undef PPRT_POOLING_SHAPE
