//===- Stream.h - Where the calling thread's work goes ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_STREAM_H
#define PPRT_BACKENDS_CUDA_STREAM_H

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace pprt::cuda {

/// What the functions of pprt/Cuda.h work with; each rank has a thread of its
/// own, which sets it before it calls a task.
struct ComputeStream {
  cudaStream_t stream = nullptr;
  cublasLtHandle_t library = nullptr;
  /// Device memory for products, of at least libraryBytes.
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
  int chip = 0; ///< 90: compute capability 9.0
  /// Load and check, but run nothing.
  bool preparing = false;
};

/// Of the calling thread.
ComputeStream &getComputeStream();

/// Ends the process with \p what and the error's own text, unless there is
/// none: no error of CUDA can be mended within a step.
void check(cudaError_t error, const char *what);
void check(cublasStatus_t status, const char *what);

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_STREAM_H
