//===- UpdateTables.h - What the kernels of updates are given ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both the host's compiler and the device's read this.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_UPDATETABLES_H
#define PPRT_BACKENDS_CUDA_UPDATETABLES_H

#include <cstdint>

namespace pprt::cuda {

constexpr int updateThreads = 256;
/// What a block updates or adds.
constexpr int64_t chunkElements = 16384;
/// What the squares of a tensor are added up in, before these are; as many as
/// a block has threads.
constexpr int mostParts = updateThreads;

struct SumEntry {
  const void *values;
  int64_t count;
  int64_t partElements; ///< a multiple of what a vector has
  uint32_t partCount;
  uint32_t firstPart; ///< number of the block
  uint32_t index;     ///< of the tensor
};

struct UpdateEntry {
  void *value;
  const void *gradient;
  void *state[2];
  int64_t count;
  /// SGD: of weights; AdamW: 1 - learning rate * weight decay. A number of the
  /// parameter's type.
  double decay;
  uint32_t firstPart; ///< number of the block
};

/// As in core/Optimizers.h, in numbers of the parameter's type.
template <typename RealTy>
struct SgdRule {
  RealTy learningRate, momentum, gradientScale;
};

template <typename RealTy>
struct AdamWRule {
  RealTy beta1, oneMinusBeta1, beta2, oneMinusBeta2;
  RealTy stepSize, inverseSquareBias, epsilon, gradientScale;
};

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_UPDATETABLES_H
