//===- HostMemory.h - Memory between the host and its device ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_HOSTMEMORY_H
#define PPRT_BACKENDS_CUDA_HOSTMEMORY_H

#include "Stream.h"

namespace pprt::cuda {

/// Pinned memory, which the device reads and writes while the host goes on. It
/// is given out from begin to end and taken back as a whole.
class HostMemory {
public:
  HostMemory() = default;
  ~HostMemory();
  HostMemory(const HostMemory &) = delete;
  HostMemory &operator=(const HostMemory &) = delete;

  void allocate(uint64_t bytes);
  /// Bytes aligned to 64, or null if there are not so many left.
  uint8_t *take(uint64_t bytes);
  void reset() { used = 0; }

  uint8_t *get() const { return base; }

  static constexpr uint64_t align(uint64_t bytes) {
    return (bytes + 63) / 64 * 64;
  }

private:
  uint8_t *base = nullptr;
  uint64_t size = 0;
  uint64_t used = 0;
};

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_HOSTMEMORY_H
