//===- HostMemory.cpp - Memory between the host and its device ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostMemory.h"

using namespace pprt::cuda;

HostMemory::~HostMemory() {
  if (base)
    cudaFreeHost(base);
}

void HostMemory::allocate(uint64_t bytes) {
  check(cudaMallocHost(reinterpret_cast<void **>(&base), bytes),
        "cannot allocate pinned memory");
  size = bytes;
}

uint8_t *HostMemory::take(uint64_t bytes) {
  bytes = align(bytes);
  if (bytes > size - used)
    return nullptr;
  uint8_t *taken = base + used;
  used += bytes;
  return taken;
}
