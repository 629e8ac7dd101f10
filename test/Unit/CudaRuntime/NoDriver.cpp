//===- NoDriver.cpp - A driver of CUDA that drives nothing ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuDNN makes plans for devices that are described to it, but not without a
// driver, to which it hands what it has compiled. This library takes its place;
// every call succeeds, and what is loaded is at one address.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstring>

#pragma GCC visibility push(default)
extern "C" {

int cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}

#define SUCCEED(NAME)                                                          \
  int NAME() { return 0; }
SUCCEED(cuCtxGetCurrent)
SUCCEED(cuCtxGetLimit)
SUCCEED(cuCtxPopCurrent)
SUCCEED(cuCtxPushCurrent)
SUCCEED(cuDeviceGet)
SUCCEED(cuDeviceGetCount)
SUCCEED(cuGetErrorName)
SUCCEED(cuGetErrorString)
SUCCEED(cuKernelGetAttribute)
SUCCEED(cuKernelSetAttribute)
SUCCEED(cuLaunchCooperativeKernel)
SUCCEED(cuLaunchKernel)
SUCCEED(cuLaunchKernelEx)
SUCCEED(cuLibraryUnload)
SUCCEED(cuLinkAddData)
SUCCEED(cuLinkComplete)
SUCCEED(cuLinkCreate)
SUCCEED(cuLinkDestroy)
SUCCEED(cuOccupancyMaxPotentialClusterSize)
SUCCEED(cuStreamGetCtx)
#undef SUCCEED

#define LOAD(NAME)                                                             \
  int NAME(void **loaded) {                                                    \
    static int something;                                                      \
    *loaded = &something;                                                      \
    return 0;                                                                  \
  }
LOAD(cuLibraryGetKernel)
LOAD(cuLibraryLoadData)
LOAD(cuLibraryLoadFromFile)
#undef LOAD

/// The CUDA runtime within the library asks for all others so.
int cuGetProcAddress_v2(const char *name, void **address, int, uint64_t,
                        int *found) {
  if (found)
    *found = 0;
  *address = reinterpret_cast<void *>(cuCtxGetCurrent);
  if (strcmp(name, "cuDriverGetVersion") == 0)
    *address = reinterpret_cast<void *>(cuDriverGetVersion);
  if (strcmp(name, "cuGetProcAddress") == 0)
    *address = reinterpret_cast<void *>(cuGetProcAddress_v2);
  return 0;
}

} // extern "C"
#pragma GCC visibility pop
