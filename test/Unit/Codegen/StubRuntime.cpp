//===- StubRuntime.cpp - A runtime that only says what it was given
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pprt/Descriptor.h"

#include <cstdio>

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
