//===- Launch.cpp - Kernels and copies of layers --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Modules.h"
#include "Stream.h"

using namespace pprt;
using namespace pprt::cuda;

/// What the device says of a launch only once it is there. To ask also has the
/// driver load the kernel, which it puts off until then.
static void checkLaunch(const PprtKernelModule &module, uint32_t kernel,
                        const cudaLaunchConfig_t &config) {
  std::string what = "kernel '" + std::string(module.kernels[kernel]) +
                     "' of '" + module.name + "'";
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, module.handles[kernel]),
        what.c_str());
  const dim3 &block = config.blockDim, &grid = config.gridDim;
  uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (threads > uint64_t(attributes.maxThreadsPerBlock))
    fail(ExitCode::Data, what + " has " + std::to_string(threads) +
                             " threads a block, of which this device allows " +
                             std::to_string(attributes.maxThreadsPerBlock));
  constexpr unsigned most = 65535; // of every device, but not along x
  if (grid.y > most || grid.z > most)
    fail(ExitCode::Data, what + " has a grid of " + std::to_string(grid.y) +
                             " x " + std::to_string(grid.z) +
                             " blocks along y and z, of which devices allow " +
                             std::to_string(most));
}

void pprtCudaLaunch(const PprtKernelModule *module, uint32_t kernel,
                    uint32_t blocksX, uint32_t blocksY, uint32_t blocksZ,
                    uint32_t threadsX, uint32_t threadsY, uint32_t threadsZ,
                    void **arguments) {
  const ComputeStream &to = getComputeStream();
  cudaLaunchConfig_t config = {};
  config.gridDim = {blocksX, blocksY, blocksZ};
  config.blockDim = {threadsX, threadsY, threadsZ};
  config.stream = to.stream;
  if (to.preparing) {
    loadModule(*module);
    checkLaunch(*module, kernel, config);
    return;
  }
  cudaError_t error =
      cudaLaunchKernelExC(&config, module->handles[kernel], arguments);
  if (error != cudaSuccess)
    check(error, ("cannot launch kernel '" +
                  std::string(module->kernels[kernel]) + "'")
                     .c_str());
}

void pprtCudaCopy(void *target, const void *source, uint64_t bytes) {
  const ComputeStream &to = getComputeStream();
  if (to.preparing || bytes == 0)
    return;
  check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice,
                        to.stream),
        "cannot copy device memory");
}
