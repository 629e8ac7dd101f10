//===- Timing.cpp - How long work takes on a device -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timing.h"
#include "backends/cuda/Stream.h"
#include "pprt/Cuda.h"

#include <algorithm>
#include <cmath>

using namespace pprt;

double cuda::measureSeconds(const std::function<void()> &work) {
  cudaStream_t stream = getComputeStream().stream;
  cudaEvent_t begin, end;
  check(cudaEventCreateWithFlags(&begin, cudaEventDefault), "event");
  check(cudaEventCreateWithFlags(&end, cudaEventDefault), "event");
  float least = INFINITY;
  for (int round = 0; round < 10; ++round) {
    check(cudaEventRecord(begin, stream), "event");
    work();
    check(cudaEventRecord(end, stream), "event");
    check(cudaEventSynchronize(end), "event");
    float milliseconds;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "event");
    least = std::min(least, milliseconds);
  }
  check(cudaEventDestroy(begin), "event");
  check(cudaEventDestroy(end), "event");
  return least / 1e3;
}

double cuda::measureCopySeconds(int64_t bytes) {
  void *target, *source;
  for (void **data : {&target, &source}) {
    check(cudaMalloc(data, bytes / 2), "memory");
    check(cudaMemsetAsync(*data, 0, bytes / 2, getComputeStream().stream),
          "memory");
  }
  double seconds =
      measureSeconds([&] { pprtCudaCopy(target, source, bytes / 2); });
  check(cudaFree(target), "memory");
  check(cudaFree(source), "memory");
  return seconds;
}
