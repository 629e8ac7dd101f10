//===- LaunchRecorder.cpp - A runtime that writes down what it is asked for
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank executable that finds this library calls each of its tasks once, with
// buffers that exist in name only: number i is at (i + 1) terabytes. The rank's
// argument is a file with a line of module, kernel and number of parameters for
// each kernel. Each call is printed as a JSON object of a line.
//
//===----------------------------------------------------------------------===//

#include "pprt/Cuda.h"
#include "pprt/Descriptor.h"

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// Numbers of parameters, by module and kernel.
static std::map<std::pair<std::string, std::string>, int> parameterCounts;

static void printAddresses(const std::vector<const void *> &addresses) {
  const char *separator = "";
  for (const void *address : addresses) {
    std::printf("%s%llu", separator,
                reinterpret_cast<unsigned long long>(address));
    separator = ", ";
  }
  std::printf("]}\n");
}

static void recordCall(const char *name,
                       const std::vector<const void *> &addresses) {
  std::printf("{\"name\": \"%s\", \"arguments\": [", name);
  printAddresses(addresses);
}

int pprtMain(int argc, char **argv, const PprtDescriptor *descriptor) {
  if (argc != 2)
    return 1;
  std::ifstream file(argv[1]);
  std::string module, kernel;
  for (int count = 0; file >> module >> kernel >> count;)
    parameterCounts[{module, kernel}] = count;
  for (uint32_t i = 0; i < descriptor->taskCount; ++i) {
    const PprtTask &task = descriptor->tasks[i];
    std::printf("{\"task\": \"%s\", \"bindings\": %u}\n", task.name,
                task.bindingCount);
    std::vector<void *> pointers;
    for (uintptr_t binding = 1; binding <= task.bindingCount; ++binding)
      pointers.push_back(reinterpret_cast<void *>(binding << 40));
    task.function(pointers.data());
  }
  return 0;
}

void pprtRun(PprtContext *, uint32_t, uint32_t) {}
void pprtSend(PprtContext *, uint32_t, uint32_t) {}
void pprtRecv(PprtContext *, uint32_t, uint32_t) {}
void pprtUpdate(PprtContext *) {}

void pprtCudaLaunch(const PprtKernelModule *module, uint32_t kernel,
                    uint32_t blocksX, uint32_t blocksY, uint32_t blocksZ,
                    uint32_t threadsX, uint32_t threadsY, uint32_t threadsZ,
                    void **arguments) {
  const char *name =
      kernel < module->kernelCount ? module->kernels[kernel] : "none";
  std::printf("{\"module\": \"%s\", \"name\": \"%s\", \"blocks\": [%u, %u, "
              "%u], \"threads\": [%u, %u, %u], \"arguments\": [",
              module->name, name, blocksX, blocksY, blocksZ, threadsX, threadsY,
              threadsZ);
  std::vector<const void *> addresses;
  for (int i = 0; i < parameterCounts[{module->name, name}]; ++i)
    addresses.push_back(*static_cast<void **>(arguments[i]));
  printAddresses(addresses);
}

void pprtCudaCopy(void *target, const void *source, uint64_t) {
  recordCall("copy", {target, source});
}

#define RECORD_PRODUCTS(TYPES, OPERAND, RESULT)                                \
  void pprtCudaMatmul##TYPES(const OPERAND *a, const OPERAND *b, RESULT *c,    \
                             int64_t, int64_t, int64_t, int64_t, int64_t,      \
                             int64_t, int64_t, int32_t, int32_t, int32_t) {    \
    recordCall("Matmul" #TYPES, {a, b, c});                                    \
  }                                                                            \
  void pprtCudaExpertMatmul##TYPES(const OPERAND *a, const OPERAND *b,         \
                                   const int64_t *experts, RESULT *c,          \
                                   OPERAND *packedA, RESULT *packedC, int64_t, \
                                   int64_t, int64_t, int64_t, int32_t) {       \
    recordCall("ExpertMatmul" #TYPES, {a, b, experts, c, packedA, packedC});   \
  }                                                                            \
  void pprtCudaExpertOuter##TYPES(const OPERAND *a, const OPERAND *b,          \
                                  const int64_t *experts, RESULT *c,           \
                                  OPERAND *packedA, OPERAND *packedB, int64_t, \
                                  int64_t, int64_t, int64_t, int32_t) {        \
    recordCall("ExpertOuter" #TYPES, {a, b, experts, c, packedA, packedB});    \
  }
RECORD_PRODUCTS(F32, float, float)
RECORD_PRODUCTS(BF16, uint16_t, uint16_t)
RECORD_PRODUCTS(BF16F32, uint16_t, float)
RECORD_PRODUCTS(F16, uint16_t, uint16_t)
RECORD_PRODUCTS(F16F32, uint16_t, float)
#undef RECORD_PRODUCTS

/// Every loop passes both ways.
static int32_t chooseNext() {
  static int32_t last = PPRT_WAY_NONE;
  last = last == PPRT_WAY_KERNELS ? PPRT_WAY_NONE : last + 1;
  return last;
}

#define RECORD_EPILOGUES(TYPES, OPERAND, RESULT)                               \
  int32_t pprtCudaChooseEpilogue##TYPES(const OPERAND *, const OPERAND *,      \
                                        const RESULT *, int64_t, int64_t,      \
                                        int64_t, int64_t, int32_t, int32_t) {  \
    return chooseNext();                                                       \
  }                                                                            \
  void pprtCudaEpilogue##TYPES(const OPERAND *a, const OPERAND *b, RESULT *c,  \
                               RESULT *bias, RESULT *auxiliary, int64_t,       \
                               int64_t, int64_t, int64_t, int32_t, int32_t,    \
                               int32_t) {                                      \
    recordCall("Epilogue" #TYPES, {a, b, c, bias, auxiliary});                 \
  }
RECORD_EPILOGUES(F32, float, float)
RECORD_EPILOGUES(BF16, uint16_t, uint16_t)
RECORD_EPILOGUES(BF16F32, uint16_t, float)
RECORD_EPILOGUES(F16, uint16_t, uint16_t)
RECORD_EPILOGUES(F16F32, uint16_t, float)
#undef RECORD_EPILOGUES
