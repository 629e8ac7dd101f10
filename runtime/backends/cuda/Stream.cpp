//===- Stream.cpp - Where the calling thread's work goes ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stream.h"
#include "Convolution.h"
#include "Epilogues.h"
#include "Modules.h"
#include "Pooling.h"
#include "Products.h"
#include "log/Message.h"

#include <cstdlib>
#include <mutex>
#include <unistd.h>

using namespace pprt;
using namespace pprt::cuda;

bool cuda::isTf32Wanted() {
  const char *value = getenv("PIPEWRIGHT_TF32");
  return value && std::string(value) == "1";
}

std::optional<Epilogues> cuda::getWantedEpilogues() {
  const char *value = getenv("PIPEWRIGHT_EPILOGUES");
  std::string text = value ? value : "measure";
  if (text == "measure")
    return Epilogues::Measured;
  if (text == "library")
    return Epilogues::Library;
  if (text == "kernels")
    return Epilogues::Kernels;
  return std::nullopt;
}

ComputeStream &cuda::getComputeStream() {
  static thread_local ComputeStream stream;
  return stream;
}

void cuda::fail(ExitCode code, const std::string &message) {
  printMessage(getComputeStream().rank, "error: " + message);
  // Not exit(): other threads are in the middle of something.
  _exit(static_cast<int>(code));
}

/// Is it the machine that is not fit, or was a device lost?
static bool isOfConfiguration(cudaError_t error) {
  switch (error) {
  case cudaErrorNoDevice:
  case cudaErrorInvalidDevice:
  case cudaErrorInsufficientDriver:
  case cudaErrorSystemDriverMismatch:
  case cudaErrorSystemNotReady:
  case cudaErrorCompatNotSupportedOnDevice:
  case cudaErrorStubLibrary:
  case cudaErrorDevicesUnavailable:
  case cudaErrorMemoryAllocation:
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorInvalidKernelImage:
  case cudaErrorUnsupportedPtxVersion:
    return true;
  default:
    return false;
  }
}

void cuda::check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  fail(isOfConfiguration(error) ? ExitCode::Data : ExitCode::DeviceLost,
       std::string(what) + ": " + cudaGetErrorString(error) + " (" +
           cudaGetErrorName(error) + ")");
}

void cuda::check(cublasStatus_t status, const char *what) {
  if (status == CUBLAS_STATUS_SUCCESS)
    return;
  bool isOfConfiguration = status == CUBLAS_STATUS_NOT_INITIALIZED ||
                           status == CUBLAS_STATUS_ALLOC_FAILED ||
                           status == CUBLAS_STATUS_ARCH_MISMATCH;
  fail(isOfConfiguration ? ExitCode::Data : ExitCode::DeviceLost,
       std::string(what) + ": " + cublasLtGetStatusString(status));
}

namespace {
/// Threads that need what is loaded.
struct Users {
  std::mutex mutex;
  int count = 0;
};
} // namespace

static Users &getUsers() {
  static Users users;
  return users;
}

static thread_local bool isUser = false;

void cuda::retain() {
  if (isUser)
    return;
  std::lock_guard<std::mutex> lock(getUsers().mutex);
  ++getUsers().count;
  isUser = true;
}

void cuda::release() {
  if (!isUser)
    return;
  // Who comes now waits, and loads anew.
  std::lock_guard<std::mutex> lock(getUsers().mutex);
  isUser = false;
  if (--getUsers().count > 0)
    return;
  unloadModules();
  forgetEpilogues();
  forgetProducts();
  forgetConvolutions();
  forgetPooling();
}
