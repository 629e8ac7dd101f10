//===- CudnnShapes.h - What descriptors of cuDNN say ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_CUDNNSHAPES_H
#define CUDADOUBLE_CUDNNSHAPES_H

#include "Numbers.h"

#include <algorithm>
#include <array>
#include <cudnn.h>
#include <optional>

namespace cudadouble {

using Four = std::array<int, 4>;
using Two = std::array<int, 2>;

inline size_t count(const Four &sizes) {
  return size_t(sizes[0]) * sizes[1] * sizes[2] * sizes[3];
}

/// The strides of a tensor without gaps.
inline Four getPacked(const Four &sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

inline size_t getIndex(const Four &strides, int a, int b, int c, int d) {
  return size_t(a) * strides[0] + size_t(b) * strides[1] +
         size_t(c) * strides[2] + size_t(d) * strides[3];
}

/// No value for a type that is not computed with.
inline std::optional<NumberType> getNumberType(cudnnDataType_t type) {
  switch (type) {
  case CUDNN_DATA_HALF:
    return NumberType::F16;
  case CUDNN_DATA_BFLOAT16:
    return NumberType::BF16;
  case CUDNN_DATA_FLOAT:
    return NumberType::F32;
  default:
    return std::nullopt;
  }
}

template <size_t size>
bool readSizes(int given, const int *from, std::array<int, size> &to) {
  if (given != static_cast<int>(size))
    return false;
  std::copy_n(from, size, to.begin());
  return true;
}

inline cudnnStatus_t getStatus(bool isRight) {
  return isRight ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

template <typename T>
cudnnStatus_t create(T **made) {
  *made = new T();
  return CUDNN_STATUS_SUCCESS;
}

template <typename T>
cudnnStatus_t destroy(T *made) {
  delete made;
  return CUDNN_STATUS_SUCCESS;
}

} // namespace cudadouble

struct cudnnTensorStruct {
  std::optional<cudadouble::NumberType> type;
  cudadouble::Four sizes, strides;
};

#endif // CUDADOUBLE_CUDNNSHAPES_H
