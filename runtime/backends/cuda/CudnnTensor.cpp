//===- CudnnTensor.cpp - Tensors as cuDNN describes them ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudnnTensor.h"

using namespace pprt;
using namespace pprt::cuda;

cudnnTensorDescriptor_t cuda::makeTensor(cudnnDataType_t type,
                                         const std::array<int, 4> &sizes,
                                         const char *what) {
  std::array<int, 4> strides = {sizes[1] * sizes[2] * sizes[3],
                                sizes[2] * sizes[3], sizes[3], 1};
  cudnnTensorDescriptor_t tensor;
  check(getCudnn().cudnnCreateTensorDescriptor(&tensor), what);
  check(getCudnn().cudnnSetTensorNdDescriptor(tensor, type, sizes.size(),
                                              sizes.data(), strides.data()),
        what);
  return tensor;
}

const char *cuda::getName(cudnnDataType_t type) {
  return type == CUDNN_DATA_FLOAT  ? "f32"
         : type == CUDNN_DATA_HALF ? "f16"
                                   : "bf16";
}
