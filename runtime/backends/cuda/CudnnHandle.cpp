//===- CudnnHandle.cpp - What a thread has of cuDNN -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudnnHandle.h"
#include "Attention.h"
#include "Cudnn.h"
#include "Stream.h"

using namespace pprt;
using namespace pprt::cuda;

void cuda::check(cudnnStatus_t status, const char *what) {
  if (status == CUDNN_STATUS_SUCCESS)
    return;
  // Execution is what fails with the device.
  fail(status >= CUDNN_STATUS_EXECUTION_FAILED ? ExitCode::DeviceLost
                                               : ExitCode::Data,
       std::string(what) + ": " + getCudnn().cudnnGetErrorString(status));
}

namespace {
struct ThreadState {
  cudnnHandle_t handle = nullptr;
  void *workspace = nullptr; ///< beside the stream's
  uint64_t workspaceBytes = 0;
};
} // namespace

static thread_local ThreadState state;

cudnnHandle_t cuda::getCudnnHandle() {
  if (state.handle)
    return state.handle;
  check(getCudnn().cudnnCreate(&state.handle), "cannot start cuDNN");
  check(getCudnn().cudnnSetStream(state.handle, getComputeStream().stream),
        "cannot give cuDNN a stream");
  return state.handle;
}

void *cuda::getCudnnWorkspace(uint64_t bytes) {
  const ComputeStream &to = getComputeStream();
  if (bytes <= to.workspaceBytes)
    return to.workspace;
  if (bytes <= state.workspaceBytes)
    return state.workspace;
  // Waits for what uses it.
  check(cudaFree(state.workspace), "cannot free what cuDNN needs");
  check(cudaMalloc(&state.workspace, bytes),
        "cannot allocate what cuDNN needs");
  state.workspaceBytes = bytes;
  return state.workspace;
}

void cuda::closeCudnn() {
  forgetAttention();
  if (state.handle)
    getCudnn().cudnnDestroy(state.handle);
  if (state.workspace)
    cudaFree(state.workspace);
  state = {};
}
