//===- CudnnPoolingApi.cpp - The pooling of cuDNN -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Over two axes, added up in f64. The largest element and averages that count
// padding, with their gradients.
//
//===----------------------------------------------------------------------===//

#include "CudnnContext.h"
#include "CudnnShapes.h"
#include "Machine.h"

#include "backends/cuda/Cudnn.h"

#include <cmath>
#include <memory>
#include <vector>

using namespace cudadouble;

static Machine &machine() { return Machine::get(); }

struct cudnnPoolingStruct {
  cudnnPoolingMode_t mode;
  Two window, padding, strides;
};

namespace {
/// Forward or, if there is a gradient of the output, backward.
struct Pooling {
  cudnnTensorStruct image, output;
  cudnnPoolingStruct how;
  char *imageData, *outputData, *outputGradient, *imageGradient;
  double alpha, beta;

  bool fits() const;
  Effects run() const;

private:
  bool isMax() const { return how.mode == CUDNN_POOLING_MAX_DETERMINISTIC; }
  template <typename VisitT>
  void forEachElement(size_t o, VisitT visit) const;
  std::vector<double> poolForward() const;
  std::vector<double> poolBackward() const;
};
} // namespace

bool Pooling::fits() const {
  const Four &in = image.sizes, &out = output.sizes;
  bool isKnown =
      isMax() || how.mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
  if (!isKnown || !image.type || image.type != output.type ||
      image.strides != getPacked(in) || output.strides != getPacked(out) ||
      in[0] != out[0] || in[1] != out[1])
    return false;
  for (int axis : {0, 1}) {
    int last = in[2 + axis] + 2 * how.padding[axis] - how.window[axis];
    if (last < 0 || out[2 + axis] != last / how.strides[axis] + 1)
      return false;
  }
  return true;
}

/// Visits the elements of the image in the window of output \p o, by rows.
template <typename VisitT>
void Pooling::forEachElement(size_t o, VisitT visit) const {
  const Four &in = image.sizes, &out = output.sizes;
  size_t plane = o / (size_t(out[2]) * out[3]);
  int y = o / out[3] % out[2], x = o % out[3];
  for (int ky = 0; ky < how.window[0]; ++ky)
    for (int kx = 0; kx < how.window[1]; ++kx) {
      int row = y * how.strides[0] + ky - how.padding[0];
      int column = x * how.strides[1] + kx - how.padding[1];
      if (row >= 0 && row < in[2] && column >= 0 && column < in[3])
        visit((plane * in[2] + row) * in[3] + column);
    }
}

std::vector<double> Pooling::poolForward() const {
  std::vector<double> pooled(count(output.sizes), isMax() ? -INFINITY : 0);
  for (size_t o = 0; o < pooled.size(); ++o) {
    forEachElement(o, [&](size_t i) {
      double element = readNumber(imageData, i, *image.type);
      if (!isMax())
        pooled[o] += element / (how.window[0] * how.window[1]);
      else if (element > pooled[o] || std::isnan(element))
        pooled[o] = element;
    });
  }
  return pooled;
}

std::vector<double> Pooling::poolBackward() const {
  std::vector<double> gradients(count(image.sizes));
  for (size_t o = 0; o < count(output.sizes); ++o) {
    double gradient = readNumber(outputGradient, o, *image.type);
    double largest = isMax() ? readNumber(outputData, o, *image.type) : 0;
    bool isFound = false;
    forEachElement(o, [&](size_t i) {
      if (!isMax()) {
        gradients[i] += gradient / (how.window[0] * how.window[1]);
        return;
      }
      double element = readNumber(imageData, i, *image.type);
      if (isFound || !(element == largest || std::isnan(element)))
        return;
      gradients[i] += gradient;
      isFound = true;
    });
  }
  return gradients;
}

Effects Pooling::run() const {
  size_t bytes = getBytes(*image.type);
  size_t imageBytes = count(image.sizes) * bytes;
  size_t outputBytes = count(output.sizes) * bytes;
  Effects effects;
  auto access = [&](char *data, size_t size, bool isWrite) {
    effects.accesses.push_back({data, size, isWrite});
  };
  char *result = outputGradient ? imageGradient : outputData;
  size_t resultBytes = outputGradient ? imageBytes : outputBytes;
  if (isMax() || !outputGradient)
    access(imageData, imageBytes, /*isWrite=*/false);
  if (outputGradient) {
    access(outputGradient, outputBytes, /*isWrite=*/false);
    if (isMax())
      access(outputData, outputBytes, /*isWrite=*/false);
  }
  if (beta != 0)
    access(result, resultBytes, /*isWrite=*/false);
  access(result, resultBytes, /*isWrite=*/true);
  std::vector<double> numbers = outputGradient ? poolBackward() : poolForward();
  for (size_t i = 0; i < numbers.size(); ++i) {
    double before = beta != 0 ? readNumber(result, i, *image.type) : 0;
    writeNumber(result, i, *image.type, alpha * numbers[i] + beta * before);
  }
  return effects;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static char *getAddress(const void *data) {
  return static_cast<char *>(const_cast<void *>(data));
}

static cudnnStatus_t enqueue(cudnnHandle_t handle, const Pooling &pooling) {
  Machine::Lock hold = machine().lock();
  ++machine().counters.poolings;
  if (!pooling.fits())
    return CUDNN_STATUS_BAD_PARAM;
  Stream *on = machine().find(handle->stream, "cudnnPooling...");
  if (!on)
    return CUDNN_STATUS_BAD_PARAM;
  auto operation = std::make_shared<Operation>();
  operation->text = "pooling on " + on->describe();
  operation->run = [pooling] { return pooling.run(); };
  machine().enqueue(operation, {on});
  return CUDNN_STATUS_SUCCESS;
}

extern "C" {

cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t *made) {
  return create(made);
}
cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t pooling) {
  return destroy(pooling);
}
cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t pooling,
                                          const cudnnPoolingMode_t mode,
                                          const cudnnNanPropagation_t nans,
                                          int axes, const int window[],
                                          const int padding[],
                                          const int strides[]) {
  pooling->mode = mode;
  bool isRight = nans == CUDNN_PROPAGATE_NAN &&
                 readSizes(axes, window, pooling->window) &&
                 readSizes(axes, padding, pooling->padding) &&
                 readSizes(axes, strides, pooling->strides);
  for (int axis = 0; isRight && axis < axes; ++axis)
    isRight =
        strides[axis] > 0 && padding[axis] >= 0 && padding[axis] < window[axis];
  return getStatus(isRight);
}

cudnnStatus_t
cudnnPoolingForward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t how,
                    const void *alpha, const cudnnTensorDescriptor_t x,
                    const void *image, const void *beta,
                    const cudnnTensorDescriptor_t y, void *output) {
  return enqueue(handle, {*x, *y, *how, getAddress(image), getAddress(output),
                          nullptr, nullptr, *static_cast<const float *>(alpha),
                          *static_cast<const float *>(beta)});
}

cudnnStatus_t cudnnPoolingBackward(
    cudnnHandle_t handle, const cudnnPoolingDescriptor_t how, const void *alpha,
    const cudnnTensorDescriptor_t y, const void *output,
    const cudnnTensorDescriptor_t dy, const void *outputGradient,
    const cudnnTensorDescriptor_t x, const void *image, const void *beta,
    const cudnnTensorDescriptor_t dx, void *imageGradient) {
  if (y->sizes != dy->sizes || x->sizes != dx->sizes || y->type != dy->type ||
      x->type != dx->type || !output || !outputGradient || !image)
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, {*x, *y, *how, getAddress(image), getAddress(output),
                          getAddress(outputGradient), getAddress(imageGradient),
                          *static_cast<const float *>(alpha),
                          *static_cast<const float *>(beta)});
}

} // extern "C"
