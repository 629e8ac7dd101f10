//===- StubRuntime.cpp - A runtime that only says what it was given
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pprt/Cuda.h"
#include "pprt/Descriptor.h"

#include <cstdio>
#include <cstring>
#include <string>

static int actions = 0;

int pprtMain(int argc, char **, const PprtDescriptor *descriptor) {
  descriptor->eval(nullptr);
  std::printf("%s: %d arguments, %u tasks, %d actions\n", descriptor->modelName,
              argc, descriptor->taskCount, actions);
  return 7;
}

void pprtRun(PprtContext *, uint32_t, uint32_t) { ++actions; }
void pprtSend(PprtContext *, uint32_t, uint32_t) {}
void pprtRecv(PprtContext *, uint32_t, uint32_t) {}
void pprtUpdate(PprtContext *) {}
void pprtCpuMatmulF32(const float *, const float *, float *, int64_t, int64_t,
                      int64_t, int64_t, int64_t, int64_t, int64_t, int32_t,
                      int32_t, int32_t) {}

//===----------------------------------------------------------------------===//
// What code for devices calls. The memory is the host's, and nothing runs.
//===----------------------------------------------------------------------===//

static std::string calls;

/// The calls so far, a line each.
extern "C" [[gnu::visibility("default")]] const char *getStubCalls() {
  return calls.c_str();
}

void pprtCudaMatmulF32(const float *, const float *, float *, int64_t, int64_t,
                       int64_t, int64_t, int64_t, int64_t, int64_t, int32_t,
                       int32_t, int32_t) {
  calls += "product\n";
}
void pprtCudaCopy(void *target, const void *source, uint64_t bytes) {
  std::memcpy(target, source, bytes);
  calls += "copy of " + std::to_string(bytes) + " bytes\n";
}

/// What an image holds, by its first bytes and its end.
static const char *getForm(const PprtKernelImage &image) {
  const auto *bytes = static_cast<const char *>(image.data);
  if (std::memcmp(bytes, "\177ELF", 4) == 0)
    return "code";
  return std::strlen(bytes) == image.bytes ? "PTX" : "nothing";
}

void pprtCudaLaunch(const PprtKernelModule *module, uint32_t kernel, uint32_t,
                    uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                    void **arguments) {
  calls += std::string(module->name) + ": " + module->kernels[kernel] +
           (module->handles[kernel] ? ", known" : ", new");
  module->handles[kernel] = module->handles;
  for (uint32_t i = 0; i < module->imageCount; ++i)
    calls += std::string(", ") + getForm(module->images[i]) + " for " +
             std::to_string(module->images[i].chip);
  const float *first = *static_cast<float **>(arguments[0]);
  calls += ", on " + std::to_string(static_cast<int>(*first)) + "\n";
}
