//===- RealDevice.cpp - Tests on the first device of the machine ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

using namespace pprt;

const bool cuda::isStandIn = false;

void cuda::startMachine() {
  // A process that has a device cannot be cloned for tests of its end.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

int cuda::getChip() {
  int major = 0, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  return major * 10 + minor;
}

void cuda::beginSteps() {}
void cuda::endSteps() {}

/// compute-sanitizer finds the others.
std::vector<std::string> cuda::getProblems() {
  cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess)
    return {};
  return {cudaGetErrorString(error)};
}
