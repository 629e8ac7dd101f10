//===- DeviceKernelTests.cpp - Generated kernels on a device
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a machine with a GPU, kernels compute what the reference evaluator does,
// in double, and how many bytes they move in a second is recorded. Where there
// is none, a few run by the runtime's launches on the stand-in.
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"
#include "CudaRuntime/Machine.h"
#include "CudaRuntime/Timing.h"
#include "KernelFunction.h"
#include "Samples.h"
#include "backends/cuda/Modules.h"
#include "backends/cuda/Stream.h"

#include "pipewright/Dialect/NN/Evaluate.h"
#include "pipewright/Dialect/PP/PP.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace mlir;
using namespace pipewright;
using pprt::cuda::check;

namespace {
/// By the runtime, which compiles a kernel's text for the device.
class RuntimeDevice : public KernelDevice {
public:
  explicit RuntimeDevice(const std::string &text);
  ~RuntimeDevice() override;

  ptx::Address allocate(const std::string &name, int64_t bytes) override;
  void write(ptx::Address to, const void *from, int64_t bytes) override;
  void read(ptx::Address from, void *to, int64_t bytes) override;
  void launch(const ptx::Launch &launch) override;

  /// How long all launches so far take, again and again.
  double measureSeconds();

private:
  void *stage(int64_t bytes);

  pprt::cuda::ComputeStream &to;
  std::vector<std::string> names;
  std::vector<const char *> kernels;
  std::vector<void *> handles;
  PprtKernelImage image;
  PprtKernelModule module;
  std::vector<void *> memory, pinned;
  std::vector<ptx::Launch> launches;
};
} // namespace

/// Of the chip that \p text is for.
static uint32_t getChip(const std::string &text) {
  constexpr StringLiteral target = ".target sm_";
  size_t at = text.find(target);
  EXPECT_NE(at, std::string::npos);
  return std::stoul(text.substr(at + target.size()));
}

RuntimeDevice::RuntimeDevice(const std::string &text)
    : to(pprt::cuda::getComputeStream()) {
  pprt::cuda::startMachine();
  to = {};
  to.chip = pprt::cuda::getChip();
  check(cudaStreamCreateWithFlags(&to.stream, cudaStreamNonBlocking), "stream");
  ptx::ModuleOrError parsed = ptx::Module::parse(text);
  EXPECT_TRUE(parsed) << parsed.error;
  names = parsed.value->getKernels();
  for (const std::string &name : names)
    kernels.push_back(name.c_str());
  handles.resize(names.size());
  image = {getChip(text), /*isPtx=*/1, text.c_str(), text.size()};
  module = {"kernels",
            /*imageCount=*/1, static_cast<uint32_t>(names.size()),
            &image,           kernels.data(),
            handles.data()};
  pprt::cuda::loadModule(module);
}

RuntimeDevice::~RuntimeDevice() {
  pprt::cuda::release();
  for (void *data : memory)
    check(cudaFree(data), "memory");
  for (void *data : pinned)
    check(cudaFreeHost(data), "memory");
  check(cudaStreamDestroy(to.stream), "stream");
  EXPECT_EQ(pprt::cuda::getProblems(), std::vector<std::string>());
}

ptx::Address RuntimeDevice::allocate(const std::string &, int64_t bytes) {
  void *data;
  check(cudaMalloc(&data, bytes), "memory");
  memory.push_back(data);
  check(cudaMemsetAsync(data, 0, bytes, to.stream), "memory");
  return reinterpret_cast<ptx::Address>(data);
}

void *RuntimeDevice::stage(int64_t bytes) {
  void *data;
  check(cudaMallocHost(&data, std::max<int64_t>(bytes, 1)), "memory");
  pinned.push_back(data);
  return data;
}

void RuntimeDevice::write(ptx::Address address, const void *from,
                          int64_t bytes) {
  void *staged = stage(bytes);
  memcpy(staged, from, bytes);
  check(cudaMemcpyAsync(reinterpret_cast<void *>(address), staged, bytes,
                        cudaMemcpyHostToDevice, to.stream),
        "copy");
}

void RuntimeDevice::read(ptx::Address address, void *into, int64_t bytes) {
  void *staged = stage(bytes);
  check(cudaMemcpyAsync(staged, reinterpret_cast<void *>(address), bytes,
                        cudaMemcpyDeviceToHost, to.stream),
        "copy");
  check(cudaStreamSynchronize(to.stream), "stream");
  memcpy(into, staged, bytes);
}

void RuntimeDevice::launch(const ptx::Launch &launch) {
  auto name = llvm::find(names, launch.kernel);
  ASSERT_NE(name, names.end());
  // All parameters are addresses.
  std::vector<ptx::Address> values(launch.parameters.size() /
                                   sizeof(ptx::Address));
  memcpy(values.data(), launch.parameters.data(), launch.parameters.size());
  std::vector<void *> arguments;
  for (ptx::Address &value : values)
    arguments.push_back(&value);
  pprtCudaLaunch(&module, name - names.begin(), launch.grid.x, launch.grid.y,
                 launch.grid.z, launch.block.x, launch.block.y, launch.block.z,
                 arguments.data());
  launches.push_back(launch);
}

double RuntimeDevice::measureSeconds() {
  std::vector<ptx::Launch> all = launches;
  return pprt::cuda::measureSeconds([&] {
    for (const ptx::Launch &one : all)
      launch(one);
  });
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

static void compareWithReference(nn::FunctionOp function,
                                 const SymbolTable &symbols) {
  SCOPED_TRACE(function.getSymName().str());
  // The few that have none are those of KernelTests.
  ScopedDiagnosticHandler ignore(function.getContext(),
                                 [](Diagnostic &) { return success(); });
  KernelFunction kernels(function);
  if (!kernels.hasKernels())
    return;
  Tensors arguments = makeArguments(function);
  auto expected = nn::evaluateFunction(function, arguments, symbols);
  ASSERT_TRUE(succeeded(expected));
  RuntimeDevice device(kernels.getText());
  expectResults(function, kernels.runOn(device, arguments), *expected);
}

static std::string readCases(const char *file) {
  auto text = llvm::MemoryBuffer::getFile(file);
  EXPECT_TRUE(text);
  return text ? (*text)->getBuffer().str() : "";
}

TEST(DeviceKernels, ComputeTheCases) {
  Samples cases(readCases(KERNEL_CASES));
  ASSERT_TRUE(cases.getModule());
  SymbolTable symbols(cases.getModule());
  size_t count = 0;
  for (nn::FunctionOp function : cases.getFunctions())
    if (!pprt::cuda::isStandIn || count++ < 3)
      compareWithReference(function, symbols);
}

TEST(DeviceKernels, ComputeTheSamples) {
  if (pprt::cuda::isStandIn)
    GTEST_SKIP() << "there is no device; KernelTests run them";
  Samples samples;
  ASSERT_TRUE(samples.getModule());
  SymbolTable symbols(samples.getModule());
  for (nn::FunctionOp function : samples.getFunctions())
    compareWithReference(function, symbols);
}

/// Bytes of what \p function reads and writes, each once.
static int64_t getBytes(nn::FunctionOp function) {
  int64_t bytes = 0;
  for (Type type : function.getArgumentTypes())
    bytes += pp::getBytes(type);
  for (Type type : function.getResultTypes())
    bytes += pp::getBytes(type);
  return bytes;
}

// What is recorded is bytes in a second.
TEST(DeviceKernels, MoveBytes) {
  Samples cases(readCases(BANDWIDTH_CASES));
  ASSERT_TRUE(cases.getModule());
  for (nn::FunctionOp function : cases.getFunctions()) {
    SCOPED_TRACE(function.getSymName().str());
    KernelFunction kernels(function);
    ASSERT_TRUE(kernels.hasKernels());
    if (pprt::cuda::isStandIn)
      continue;
    RuntimeDevice device(kernels.getText());
    kernels.launchOn(device);
    int64_t bytes = getBytes(function);
    RecordProperty(function.getSymName().str(),
                   std::to_string(bytes / device.measureSeconds()));
    RecordProperty(
        function.getSymName().str() + "_copy",
        std::to_string(bytes / pprt::cuda::measureCopySeconds(bytes)));
  }
}
