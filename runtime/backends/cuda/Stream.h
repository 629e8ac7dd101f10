//===- Stream.h - Where the calling thread's work goes ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_STREAM_H
#define PPRT_BACKENDS_CUDA_STREAM_H

#include "pprt/Status.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

namespace pprt::cuda {

/// Whether PIPEWRIGHT_TF32 is 1 in the environment.
bool isTf32Wanted();

/// Who computes a product and what follows it.
enum class Epilogues {
  Measured, ///< whoever is faster
  Library,  ///< one call of cuBLASLt, where it has one
  Kernels   ///< the product, and kernels of the layer
};

/// What PIPEWRIGHT_EPILOGUES says, if it is nothing or one of 'measure',
/// 'library' and 'kernels'.
std::optional<Epilogues> getWantedEpilogues();

/// What the functions of pprt/Cuda.h work with; each rank has a thread of its
/// own, which sets it before it calls a task.
struct ComputeStream {
  cudaStream_t stream = nullptr;
  cublasLtHandle_t library = nullptr;
  /// Device memory for products; they ask for alignment of 256.
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
  int chip = 0; ///< 90: compute capability 9.0
  /// Load and check, but change nothing.
  bool preparing = false;
  /// Products of f32 round their operands to 10 bits, and are many times
  /// faster.
  bool allowsTf32 = isTf32Wanted();
  Epilogues epilogues = getWantedEpilogues().value_or(Epilogues::Measured);
  uint32_t rank = 0; ///< for messages
};

/// Of the calling thread.
ComputeStream &getComputeStream();

/// Ends the process: nothing that goes wrong here can be mended within a step.
[[noreturn]] void fail(ExitCode code, const std::string &message);

/// Ends the process with \p what and the error's own text, unless there is
/// none.
void check(cudaError_t error, const char *what);
void check(cublasStatus_t status, const char *what);

/// Says that the calling thread needs what is loaded and kept for all threads.
void retain();
/// The calling thread needs none of it any more, until it prepares anew: what
/// no thread needs is given back.
void release();

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_STREAM_H
