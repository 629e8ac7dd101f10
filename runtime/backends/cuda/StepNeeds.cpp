//===- StepNeeds.cpp - What is made before the first step -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepNeeds.h"

#include <algorithm>

using namespace pprt;
using namespace pprt::cuda;

StagedBytes cuda::getStagedBytes(const PprtDescriptor &descriptor) {
  StagedBytes staged;
  for (uint32_t i = 0; i < descriptor.bufferCount; ++i) {
    const PprtBuffer &buffer = descriptor.buffers[i];
    uint64_t count = buffer.kind == PPRT_BUFFER_LOSS_SCALE ? 1 : 0;
    if (buffer.kind == PPRT_BUFFER_INPUT ||
        buffer.kind == PPRT_BUFFER_RANDOM_KEY)
      count = 2 * descriptor.microbatches;
    if (count == 0)
      continue;
    uint64_t bytes = HostMemory::align(buffer.bytes);
    staged.sum += count * bytes;
    staged.largest = std::max(staged.largest, bytes);
    staged.count += count;
  }
  return staged;
}

size_t cuda::countEvents(const PprtDescriptor &descriptor) {
  size_t tasks = descriptor.taskCount * descriptor.microbatches;
  size_t messages = (descriptor.channelCount + descriptor.exchangeCount) *
                    descriptor.microbatches;
  // A tied gradient goes to the owner and comes back; between replicas, a part
  // goes to each and comes from each, and so does its sum.
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    if (descriptor.parameters[i].contributionCount > 1)
      messages += 2 * descriptor.parameters[i].contributionCount;
    messages += 4 * (descriptor.dataParallel - 1);
  }
  // The step's begin, and each time that the host waits for the device.
  constexpr size_t others = 8;
  return 2 * tasks + 3 * messages + 2 * getStagedBytes(descriptor).count +
         others;
}
