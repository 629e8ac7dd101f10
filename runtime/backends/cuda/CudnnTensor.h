//===- CudnnTensor.h - Tensors as cuDNN describes them ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_CUDNNTENSOR_H
#define PPRT_BACKENDS_CUDA_CUDNNTENSOR_H

#include "Cudnn.h"

#include <array>
#include <string>

namespace pprt::cuda {

using Pair = std::array<int, 2>; ///< of height and width

inline Pair makePair(int64_t height, int64_t width) {
  return {static_cast<int>(height), static_cast<int>(width)};
}

/// Describes a tensor without gaps, the last axis fastest; ends the process
/// with \p what if that is refused.
cudnnTensorDescriptor_t makeTensor(cudnnDataType_t type,
                                   const std::array<int, 4> &sizes,
                                   const char *what);

const char *getName(cudnnDataType_t type);

/// The sizes as messages have them, such as 2 x 3.
template <size_t count>
std::string join(const std::array<int, count> &sizes) {
  std::string text;
  for (int size : sizes)
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_CUDNNTENSOR_H
