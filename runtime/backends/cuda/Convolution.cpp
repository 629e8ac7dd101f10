//===- Convolution.cpp - Convolutions on cuDNN ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a convolution is computed is looked up once for each shape, among the
// algorithms that always add up in the same order. Sums are of f32.
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"
#include "Cudnn.h"
#include "CudnnTensor.h"
#include "Plans.h"
#include "Stream.h"
#include "pprt/Cuda.h"

#include <array>
#include <tuple>

using namespace pprt;
using namespace pprt::cuda;

namespace {
enum class Form { Forward, InputGradient, WeightGradient };

struct Shape {
  Form form;
  cudnnDataType_t type;
  int batch, groups, inputChannels, outputChannels;
  Pair input, kernel, output, padding, strides, dilations;

  std::array<int, 4> getImage() const {
    return {batch, inputChannels, input[0], input[1]};
  }
  std::array<int, 4> getOutput() const {
    return {batch, outputChannels, output[0], output[1]};
  }
  std::array<int, 4> getWeights() const {
    return {outputChannels, inputChannels / groups, kernel[0], kernel[1]};
  }
  std::string describe() const;
  auto tie() const {
    return std::tie(form, type, batch, groups, inputChannels, outputChannels,
                    input, kernel, output, padding, strides, dilations);
  }
};

using Key = PlanKey<Shape>;

/// How one shape is computed.
class Plan {
public:
  explicit Plan(const Key &key);
  ~Plan();
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;

  /// result = alpha (what the form says of a and b) + beta result
  void run(float alpha, const void *a, const void *b, float beta,
           void *result) const;

private:
  void choose(const Key &key);
  template <typename ResultT, typename FindT, typename MeasureT>
  int chooseAmong(const Key &key, FindT find, MeasureT measure);

  Form form;
  cudnnTensorDescriptor_t image, output;
  cudnnFilterDescriptor_t weights;
  cudnnConvolutionDescriptor_t convolution;
  int algorithm;
};
} // namespace

std::string Shape::describe() const {
  const char *what = form == Form::Forward ? "the convolution"
                     : form == Form::InputGradient
                         ? "the gradient for the input of a convolution"
                         : "the gradient for the weights of a convolution";
  return std::string(what) + " of " + getName(type) + ", " + join(getImage()) +
         " by " + join(getWeights()) + " to " + join(getOutput()) + " in " +
         std::to_string(groups) + " group(s), with padding " + join(padding) +
         ", strides " + join(strides) + " and dilations " + join(dilations);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static constexpr const char *cannotDescribe =
    "cannot describe a convolution to cuDNN";

static cudnnFilterDescriptor_t makeFilter(cudnnDataType_t type,
                                          const std::array<int, 4> &sizes) {
  cudnnFilterDescriptor_t filter;
  check(getCudnn().cudnnCreateFilterDescriptor(&filter), cannotDescribe);
  check(getCudnn().cudnnSetFilterNdDescriptor(filter, type, CUDNN_TENSOR_NCHW,
                                              sizes.size(), sizes.data()),
        cannotDescribe);
  return filter;
}

Plan::Plan(const Key &key) : form(key.shape.form) {
  const Shape &s = key.shape;
  const Cudnn &cudnn = getCudnn();
  image = makeTensor(s.type, s.getImage(), cannotDescribe);
  output = makeTensor(s.type, s.getOutput(), cannotDescribe);
  weights = makeFilter(s.type, s.getWeights());
  check(cudnn.cudnnCreateConvolutionDescriptor(&convolution), cannotDescribe);
  check(cudnn.cudnnSetConvolutionNdDescriptor(
            convolution, s.padding.size(), s.padding.data(), s.strides.data(),
            s.dilations.data(), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
        cannotDescribe);
  check(cudnn.cudnnSetConvolutionGroupCount(convolution, s.groups),
        cannotDescribe);
  choose(key);
}

Plan::~Plan() {
  const Cudnn &cudnn = getCudnn();
  cudnn.cudnnDestroyConvolutionDescriptor(convolution);
  cudnn.cudnnDestroyFilterDescriptor(weights);
  for (cudnnTensorDescriptor_t tensor : {image, output})
    cudnn.cudnnDestroyTensorDescriptor(tensor);
}

/// The first algorithm that \p find lists and that will do; \p measure asks
/// for its workspace.
template <typename ResultT, typename FindT, typename MeasureT>
int Plan::chooseAmong(const Key &key, FindT find, MeasureT measure) {
  const Cudnn &cudnn = getCudnn();
  bool isExact = key.shape.type == CUDNN_DATA_FLOAT && !key.allowsTf32;
  check(cudnn.cudnnSetConvolutionMathType(
            convolution, isExact ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH),
        cannotDescribe);
  constexpr int most = 8;
  ResultT results[most];
  int count = 0;
  cudnnStatus_t status = find(most, &count, results);
  for (int i = 0; status == CUDNN_STATUS_SUCCESS && i < count; ++i) {
    if (results[i].status != CUDNN_STATUS_SUCCESS ||
        results[i].determinism != CUDNN_DETERMINISTIC)
      continue;
    if (!isExact)
      check(cudnn.cudnnSetConvolutionMathType(convolution, results[i].mathType),
            cannotDescribe);
    size_t bytes = 0;
    if (measure(results[i].algo, &bytes) == CUDNN_STATUS_SUCCESS &&
        bytes <= key.workspaceBytes)
      return results[i].algo;
  }
  fail(ExitCode::Data,
       "cuDNN does not compute " + key.shape.describe() + " within " +
           std::to_string(key.workspaceBytes) +
           " bytes of workspace: " + getCudnn().cudnnGetErrorString(status) +
           "; build with '--convolutions kernels'");
}

void Plan::choose(const Key &key) {
  const Cudnn &cudnn = getCudnn();
  cudnnHandle_t library = getCudnnHandle();
  if (form == Form::Forward)
    algorithm = chooseAmong<cudnnConvolutionFwdAlgoPerf_t>(
        key,
        [&](auto... results) {
          return cudnn.cudnnGetConvolutionForwardAlgorithm_v7(
              library, image, weights, convolution, output, results...);
        },
        [&](auto... result) {
          return cudnn.cudnnGetConvolutionForwardWorkspaceSize(
              library, image, weights, convolution, output, result...);
        });
  else if (form == Form::InputGradient)
    algorithm = chooseAmong<cudnnConvolutionBwdDataAlgoPerf_t>(
        key,
        [&](auto... results) {
          return cudnn.cudnnGetConvolutionBackwardDataAlgorithm_v7(
              library, weights, output, convolution, image, results...);
        },
        [&](auto... result) {
          return cudnn.cudnnGetConvolutionBackwardDataWorkspaceSize(
              library, weights, output, convolution, image, result...);
        });
  else
    algorithm = chooseAmong<cudnnConvolutionBwdFilterAlgoPerf_t>(
        key,
        [&](auto... results) {
          return cudnn.cudnnGetConvolutionBackwardFilterAlgorithm_v7(
              library, image, output, convolution, weights, results...);
        },
        [&](auto... result) {
          return cudnn.cudnnGetConvolutionBackwardFilterWorkspaceSize(
              library, image, output, convolution, weights, result...);
        });
}

void Plan::run(float alpha, const void *a, const void *b, float beta,
               void *result) const {
  const Cudnn &cudnn = getCudnn();
  const ComputeStream &to = getComputeStream();
  if (form == Form::Forward)
    check(cudnn.cudnnConvolutionForward(
              getCudnnHandle(), &alpha, image, a, weights, b, convolution,
              static_cast<cudnnConvolutionFwdAlgo_t>(algorithm), to.workspace,
              to.workspaceBytes, &beta, output, result),
          "cannot compute a convolution");
  else if (form == Form::InputGradient)
    check(cudnn.cudnnConvolutionBackwardData(
              getCudnnHandle(), &alpha, weights, b, output, a, convolution,
              static_cast<cudnnConvolutionBwdDataAlgo_t>(algorithm),
              to.workspace, to.workspaceBytes, &beta, image, result),
          "cannot compute the gradient for the input of a convolution");
  else
    check(cudnn.cudnnConvolutionBackwardFilter(
              getCudnnHandle(), &alpha, image, b, output, a, convolution,
              static_cast<cudnnConvolutionBwdFilterAlgo_t>(algorithm),
              to.workspace, to.workspaceBytes, &beta, weights, result),
          "cannot compute the gradient for the weights of a convolution");
}

static Plans<Shape, Plan> &getPlans() {
  static Plans<Shape, Plan> plans;
  return plans;
}

void cuda::forgetConvolutions() { getPlans().forget(); }

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static void convolve(const Shape &shape, const void *a, const void *b,
                     void *result, bool accumulate) {
  const Plan &plan = getPlans().get(shape);
  // Before the first step all memory is zero, so that nothing times zero is
  // not a number.
  if (getComputeStream().preparing)
    plan.run(/*alpha=*/0, a, b, /*beta=*/1, result);
  else
    plan.run(/*alpha=*/1, a, b, accumulate ? 1 : 0, result);
}

#define PPRT_DEFINE_CONVOLUTION(NAME, FORM, TYPE, ELEMENT)                     \
  void pprtCudaConvolution##NAME(const ELEMENT *a, const ELEMENT *b,           \
                                 ELEMENT *result, PPRT_CONVOLUTION_SIZES,      \
                                 int32_t accumulate) {                         \
    convolve({Form::FORM, TYPE, int(batch), int(groups), int(inputChannels),   \
              int(outputChannels), makePair(inputHeight, inputWidth),          \
              makePair(kernelHeight, kernelWidth),                             \
              makePair(outputHeight, outputWidth),                             \
              makePair(paddingHeight, paddingWidth),                           \
              makePair(strideHeight, strideWidth),                             \
              makePair(dilationHeight, dilationWidth)},                        \
             a, b, result, accumulate != 0);                                   \
  }
PPRT_DEFINE_CONVOLUTION(F32, Forward, CUDNN_DATA_FLOAT, float)
PPRT_DEFINE_CONVOLUTION(BF16, Forward, CUDNN_DATA_BFLOAT16, uint16_t)
PPRT_DEFINE_CONVOLUTION(F16, Forward, CUDNN_DATA_HALF, uint16_t)
PPRT_DEFINE_CONVOLUTION(InputGradientF32, InputGradient, CUDNN_DATA_FLOAT,
                        float)
PPRT_DEFINE_CONVOLUTION(InputGradientBF16, InputGradient, CUDNN_DATA_BFLOAT16,
                        uint16_t)
PPRT_DEFINE_CONVOLUTION(InputGradientF16, InputGradient, CUDNN_DATA_HALF,
                        uint16_t)
PPRT_DEFINE_CONVOLUTION(WeightGradientF32, WeightGradient, CUDNN_DATA_FLOAT,
                        float)
PPRT_DEFINE_CONVOLUTION(WeightGradientBF16, WeightGradient, CUDNN_DATA_BFLOAT16,
                        uint16_t)
PPRT_DEFINE_CONVOLUTION(WeightGradientF16, WeightGradient, CUDNN_DATA_HALF,
                        uint16_t)
#undef PPRT_DEFINE_CONVOLUTION
