//===- DeviceTest.cpp - A device and its memory ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTest.h"
#include "CudnnHandle.h"
#include "Machine.h"

using namespace pprt;
using namespace pprt::cuda;

DeviceTest::DeviceTest() : to(getComputeStream()) {
  startMachine();
  to = {};
  check(cudaStreamCreateWithFlags(&to.stream, cudaStreamNonBlocking), "stream");
  check(cublasLtCreate(&to.library), "library");
  to.workspaceBytes = 1 << 12;
  check(cudaMalloc(&to.workspace, to.workspaceBytes), "memory");
  to.chip = getChip();
}

DeviceTest::~DeviceTest() {
  endSteps();
  release();
  closeCudnn();
  freeMemory();
  check(cudaFree(to.workspace), "memory");
  check(cublasLtDestroy(to.library), "library");
  check(cudaStreamDestroy(to.stream), "stream");
  EXPECT_EQ(getProblems(), std::vector<std::string>());
}

void DeviceTest::freeMemory() {
  endSteps();
  for (void *data : memory)
    check(cudaFree(data), "memory");
  for (void *data : pinned)
    check(cudaFreeHost(data), "memory");
  memory.clear();
  pinned.clear();
}

void *DeviceTest::allocate(size_t bytes) {
  void *data;
  check(cudaMalloc(&data, bytes), "memory");
  memory.push_back(data);
  return data;
}

void *DeviceTest::allocatePinned(size_t bytes) {
  void *data;
  check(cudaMallocHost(&data, bytes), "memory");
  pinned.push_back(data);
  return data;
}

void DeviceTest::prepare(bool begins) {
  to.preparing = begins;
  if (begins)
    endSteps();
  else
    beginSteps();
}

void DeviceTest::synchronize() {
  check(cudaStreamSynchronize(to.stream), "stream");
}

void DeviceTest::copyIn(void *data, const void *numbers, size_t bytes) {
  if (bytes == 0)
    return;
  void *staged = allocatePinned(bytes);
  memcpy(staged, numbers, bytes);
  check(cudaMemcpyAsync(data, staged, bytes, cudaMemcpyHostToDevice, to.stream),
        "copy");
}

void DeviceTest::copyOut(void *numbers, const void *data, size_t bytes) {
  endSteps();
  if (bytes == 0)
    return;
  void *staged = allocatePinned(bytes);
  check(cudaMemcpyAsync(staged, data, bytes, cudaMemcpyDeviceToHost, to.stream),
        "copy");
  synchronize();
  memcpy(numbers, staged, bytes);
}
