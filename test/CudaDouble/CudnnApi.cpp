//===- CudnnApi.cpp - The convolutions of cuDNN ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Over two axes, added up in f64. Of the algorithms that are found the first
// adds up in any order and the second wants a gigabyte, so that a program has
// to look at them.
//
//===----------------------------------------------------------------------===//

#include "CudnnContext.h"
#include "CudnnShapes.h"
#include "Machine.h"

#include "backends/cuda/Cudnn.h"

#include <memory>

using namespace cudadouble;

static Machine &machine() { return Machine::get(); }

struct cudnnFilterStruct {
  std::optional<NumberType> type;
  Four sizes;
};

struct cudnnConvolutionStruct {
  Two padding, strides, dilations;
  int groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {
enum class Form { Forward, InputGradient, WeightGradient };

/// One of three is the result.
struct Convolution {
  Form form;
  cudnnTensorStruct image, output;
  cudnnFilterStruct weights;
  cudnnConvolutionStruct how;
  char *imageData, *outputData, *weightData;
  double alpha, beta;

  bool fits() const;
  Effects run() const;

private:
  double read(const char *data, size_t index) const;
  std::vector<double> addUp() const;
};
} // namespace

bool Convolution::fits() const {
  const Four &in = image.sizes, &out = output.sizes, &window = weights.sizes;
  if (!image.type || image.type != output.type || image.type != weights.type ||
      image.strides != getPacked(in) || output.strides != getPacked(out) ||
      in[0] != out[0] || in[1] != window[1] * how.groups ||
      out[1] != window[0] || out[1] % how.groups != 0)
    return false;
  for (int axis : {0, 1}) {
    int reach = (window[2 + axis] - 1) * how.dilations[axis] + 1;
    int last = in[2 + axis] + 2 * how.padding[axis] - reach;
    if (last < 0 || out[2 + axis] != last / how.strides[axis] + 1)
      return false;
  }
  return true;
}

/// Element \p index, as it is multiplied.
double Convolution::read(const char *data, size_t index) const {
  double value = readNumber(data, index, *image.type);
  return *image.type == NumberType::F32 && how.math != CUDNN_FMA_MATH
             ? roundToTf32(value)
             : value;
}

/// The result, as of the products of all windows.
std::vector<double> Convolution::addUp() const {
  const Four &in = image.sizes, &out = output.sizes, &window = weights.sizes;
  Four weightStrides = getPacked(window);
  std::vector<double> sums(form == Form::Forward         ? count(out)
                           : form == Form::InputGradient ? count(in)
                                                         : count(window));
  auto addTerm = [&](size_t i, size_t w, size_t o) {
    if (form == Form::Forward)
      sums[o] += read(imageData, i) * read(weightData, w);
    else if (form == Form::InputGradient)
      sums[i] += read(outputData, o) * read(weightData, w);
    else
      sums[w] += read(outputData, o) * read(imageData, i);
  };
  auto addWindow = [&](int n, int m, int y, int x, int c) {
    int channel = m / (out[1] / how.groups) * window[1] + c;
    for (int ky = 0; ky < window[2]; ++ky)
      for (int kx = 0; kx < window[3]; ++kx) {
        int row = y * how.strides[0] + ky * how.dilations[0] - how.padding[0];
        int column =
            x * how.strides[1] + kx * how.dilations[1] - how.padding[1];
        if (row >= 0 && row < in[2] && column >= 0 && column < in[3])
          addTerm(getIndex(image.strides, n, channel, row, column),
                  getIndex(weightStrides, m, c, ky, kx),
                  getIndex(output.strides, n, m, y, x));
      }
  };
  for (int n = 0; n < out[0]; ++n)
    for (int m = 0; m < out[1]; ++m)
      for (int y = 0; y < out[2]; ++y)
        for (int x = 0; x < out[3]; ++x)
          for (int c = 0; c < window[1]; ++c)
            addWindow(n, m, y, x, c);
  return sums;
}

Effects Convolution::run() const {
  struct Array {
    char *data;
    size_t count;
    Form resultOf;
  };
  std::vector<double> sums = addUp();
  Effects effects;
  char *result = nullptr;
  for (Array array :
       {Array{outputData, count(output.sizes), Form::Forward},
        Array{imageData, count(image.sizes), Form::InputGradient},
        Array{weightData, count(weights.sizes), Form::WeightGradient}}) {
    bool isResult = array.resultOf == form;
    size_t bytes = array.count * getBytes(*image.type);
    if (!isResult || beta != 0)
      effects.accesses.push_back({array.data, bytes, /*isWrite=*/false});
    if (!isResult)
      continue;
    effects.accesses.push_back({array.data, bytes, /*isWrite=*/true});
    result = array.data;
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    double before = beta != 0 ? readNumber(result, i, *image.type) : 0;
    writeNumber(result, i, *image.type, alpha * sums[i] + beta * before);
  }
  return effects;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static Convolution describe(Form form, cudnnTensorDescriptor_t image,
                            cudnnFilterDescriptor_t weights,
                            cudnnConvolutionDescriptor_t how,
                            cudnnTensorDescriptor_t output) {
  return {form,    *image,  *output, *weights, *how,
          nullptr, nullptr, nullptr, 0,        0};
}

/// What the second algorithm wants, and the others.
static constexpr size_t muchMemory = size_t(1) << 30, someMemory = 256;

/// Algorithms 0 to 2, which all three forms have.
template <typename ResultT>
static cudnnStatus_t find(const Convolution &convolution, int wanted, int *got,
                          ResultT *results) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("cudnnGetConvolution...Algorithm_v7");
  *got = 0;
  if (!convolution.fits())
    return CUDNN_STATUS_BAD_PARAM;
  for (; *got < std::min(wanted, 3); ++*got) {
    results[*got] = {};
    results[*got].algo = static_cast<decltype(ResultT::algo)>(*got);
    results[*got].status = CUDNN_STATUS_SUCCESS;
    results[*got].determinism =
        *got == 0 ? CUDNN_NON_DETERMINISTIC : CUDNN_DETERMINISTIC;
    results[*got].mathType = convolution.how.math;
  }
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t measure(const Convolution &convolution, int algorithm,
                             size_t *bytes) {
  *bytes = algorithm == 1 ? muchMemory : someMemory;
  return getStatus(convolution.fits());
}

static cudnnStatus_t run(cudnnHandle_t handle, Convolution convolution,
                         const void *image, const void *weights,
                         const void *output, const void *alpha,
                         const void *beta, int algorithm, size_t workspace) {
  Machine::Lock hold = machine().lock();
  ++machine().counters.convolutions;
  size_t wanted = 0;
  if (measure(convolution, algorithm, &wanted) != CUDNN_STATUS_SUCCESS ||
      workspace < wanted)
    return CUDNN_STATUS_BAD_PARAM;
  if (algorithm == 0)
    machine().report("a convolution is computed in any order");
  Stream *on = machine().find(handle->stream, "cudnnConvolution...");
  if (!on)
    return CUDNN_STATUS_BAD_PARAM;
  auto address = [](const void *data) {
    return static_cast<char *>(const_cast<void *>(data));
  };
  convolution.imageData = address(image);
  convolution.weightData = address(weights);
  convolution.outputData = address(output);
  convolution.alpha = *static_cast<const float *>(alpha);
  convolution.beta = *static_cast<const float *>(beta);
  auto operation = std::make_shared<Operation>();
  operation->text = "convolution on " + on->describe();
  operation->run = [convolution] { return convolution.run(); };
  machine().enqueue(operation, {on});
  return CUDNN_STATUS_SUCCESS;
}

extern "C" {

const char *cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? "CUDNN_STATUS_SUCCESS"
                                        : "CUDNN_STATUS_BAD_PARAM";
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  Machine::Lock hold = machine().lock();
  machine().refuseInStep("cudnnCreate");
  return create(handle);
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return destroy(handle); }

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *made) {
  return create(made);
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  return destroy(tensor);
}
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor,
                                         cudnnDataType_t type, int axes,
                                         const int sizes[],
                                         const int strides[]) {
  tensor->type = getNumberType(type);
  return getStatus(readSizes(axes, sizes, tensor->sizes) &&
                   readSizes(axes, strides, tensor->strides));
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *made) {
  return create(made);
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  return destroy(filter);
}
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter,
                                         cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int axes,
                                         const int sizes[]) {
  filter->type = getNumberType(type);
  return getStatus(format == CUDNN_TENSOR_NCHW &&
                   readSizes(axes, sizes, filter->sizes));
}

cudnnStatus_t
cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *made) {
  return create(made);
}
cudnnStatus_t
cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution) {
  return destroy(convolution);
}
cudnnStatus_t cudnnSetConvolutionNdDescriptor(
    cudnnConvolutionDescriptor_t convolution, int axes, const int padding[],
    const int strides[], const int dilations[], cudnnConvolutionMode_t mode,
    cudnnDataType_t type) {
  return getStatus(mode == CUDNN_CROSS_CORRELATION &&
                   type == CUDNN_DATA_FLOAT &&
                   readSizes(axes, padding, convolution->padding) &&
                   readSizes(axes, strides, convolution->strides) &&
                   readSizes(axes, dilations, convolution->dilations));
}
cudnnStatus_t
cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution,
                              int groups) {
  convolution->groups = groups;
  return getStatus(groups > 0);
}
cudnnStatus_t
cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution,
                            cudnnMathType_t math) {
  convolution->math = math;
  return CUDNN_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t how, cudnnTensorDescriptor_t y, int wanted,
    int *got, cudnnConvolutionFwdAlgoPerf_t *results) {
  return find(describe(Form::Forward, x, w, how, y), wanted, got, results);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t how, cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algorithm, size_t *bytes) {
  return measure(describe(Form::Forward, x, w, how, y), algorithm, bytes);
}

cudnnStatus_t cudnnConvolutionForward(
    cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t x,
    const void *image, cudnnFilterDescriptor_t w, const void *weights,
    cudnnConvolutionDescriptor_t how, cudnnConvolutionFwdAlgo_t algorithm,
    void *, size_t workspace, const void *beta, cudnnTensorDescriptor_t y,
    void *output) {
  return run(handle, describe(Form::Forward, x, w, how, y), image, weights,
             output, alpha, beta, algorithm, workspace);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t how, cudnnTensorDescriptor_t dx, int wanted,
    int *got, cudnnConvolutionBwdDataAlgoPerf_t *results) {
  return find(describe(Form::InputGradient, dx, w, how, dy), wanted, got,
              results);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t how, cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t algorithm, size_t *bytes) {
  return measure(describe(Form::InputGradient, dx, w, how, dy), algorithm,
                 bytes);
}

cudnnStatus_t cudnnConvolutionBackwardData(
    cudnnHandle_t handle, const void *alpha, cudnnFilterDescriptor_t w,
    const void *weights, cudnnTensorDescriptor_t dy, const void *output,
    cudnnConvolutionDescriptor_t how, cudnnConvolutionBwdDataAlgo_t algorithm,
    void *, size_t workspace, const void *beta, cudnnTensorDescriptor_t dx,
    void *image) {
  return run(handle, describe(Form::InputGradient, dx, w, how, dy), image,
             weights, output, alpha, beta, algorithm, workspace);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t how, cudnnFilterDescriptor_t dw, int wanted,
    int *got, cudnnConvolutionBwdFilterAlgoPerf_t *results) {
  return find(describe(Form::WeightGradient, x, dw, how, dy), wanted, got,
              results);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t how, cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algorithm, size_t *bytes) {
  return measure(describe(Form::WeightGradient, x, dw, how, dy), algorithm,
                 bytes);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t x,
    const void *image, cudnnTensorDescriptor_t dy, const void *output,
    cudnnConvolutionDescriptor_t how, cudnnConvolutionBwdFilterAlgo_t algorithm,
    void *, size_t workspace, const void *beta, cudnnFilterDescriptor_t dw,
    void *weights) {
  return run(handle, describe(Form::WeightGradient, x, dw, how, dy), image,
             weights, output, alpha, beta, algorithm, workspace);
}

} // extern "C"

/// In place of what loads the library.
const pprt::cuda::Cudnn &pprt::cuda::getCudnn() {
#define PPRT_CUDNN_FUNCTION(NAME) ::NAME,
  static const Cudnn functions = {PPRT_CUDNN_FUNCTIONS(PPRT_CUDNN_FUNCTION)};
#undef PPRT_CUDNN_FUNCTION
  return functions;
}
