//===- Updates.h - What happens to gradients and parameters -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels over many parameters at once, on the compute stream of the calling
// thread. The arithmetic is that of core/Optimizers.h, and sums have one order.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_UPDATES_H
#define PPRT_BACKENDS_CUDA_UPDATES_H

#include "core/Device.h"

namespace pprt::cuda {

/// Device memory that the functions below need for so many parameters, and
/// pinned host memory of the same size from which it is filled.
struct UpdateMemory {
  uint8_t *device = nullptr;
  uint8_t *host = nullptr;
  uint64_t bytes = 0;
};
uint64_t getUpdateBytes(size_t parameters);

/// Loads the kernels; nothing is loaded later.
void prepareUpdates();

/// target += addend
void add(const Reals &target, const void *addend);

/// Puts the sum of the squares of each, of f64, at the begin of the memory of
/// the device. The memory of the host is in use until the stream has come here.
void sumSquares(const std::vector<Reals> &values, const UpdateMemory &memory);

/// The memory of the host is in use until the stream has come here.
void update(const UpdateRule &rule,
            const std::vector<ParameterUpdate> &parameters,
            const UpdateMemory &memory);

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_UPDATES_H
