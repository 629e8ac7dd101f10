//===- LoadCudnn.cpp - Finds cuDNN on the machine -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn.h"
#include "Stream.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace pprt;
using namespace pprt::cuda;

[[noreturn]] static void failToLoad() {
  const char *reason = dlerror();
  fail(ExitCode::Data,
       std::string("cannot load cuDNN, which computes convolutions, pooling "
                   "and attention: ") +
           (reason ? reason : "unknown reason") +
           "; install cuDNN 9, name its libcudnn.so.9 in PIPEWRIGHT_CUDNN, or "
           "build with '--convolutions kernels' and '--attention kernels'");
}

static Cudnn load() {
  const char *named = getenv("PIPEWRIGHT_CUDNN");
  void *library =
      dlopen(named ? named : "libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    failToLoad();
  Cudnn functions;
#define PPRT_CUDNN_FUNCTION(NAME)                                              \
  functions.NAME = reinterpret_cast<decltype(&::NAME)>(dlsym(library, #NAME)); \
  if (!functions.NAME)                                                         \
    failToLoad();
  PPRT_CUDNN_FUNCTIONS(PPRT_CUDNN_FUNCTION)
#undef PPRT_CUDNN_FUNCTION
  return functions;
}

const Cudnn &cuda::getCudnn() {
  static const Cudnn functions = load();
  return functions;
}
