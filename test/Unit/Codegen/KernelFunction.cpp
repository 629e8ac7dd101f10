//===- KernelFunction.cpp - Layer functions as kernels on no GPU
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

#include "Buffer.h"
#include "Targets/CUDA/Memory.h"

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Codegen/Target.h"
#include "pipewright/Codegen/TaskSignature.h"
#include "pipewright/Dialect/PP/PP.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pipewright;

KernelFunction::KernelFunction(nn::FunctionOp function)
    : function(function), module(ModuleOp::create(function.getLoc())) {
  OpBuilder::atBlockEnd(module->getBody()).clone(*function);
  PassManager pm(function.getContext());
  buildBufferizePipeline(pm, /*library=*/nullptr, TargetOptions(),
                         addKernelPasses);
  buildKernelPipeline(pm);
  pm.addPass(createSerializeKernels());
  if (failed(pm.run(*module)))
    return;
  host =
      module->lookupSymbol<func::FuncOp>(getLayerSymbol(function.getSymName()));
  for (auto binary : module->getOps<gpu::BinaryOp>())
    text = cast<gpu::ObjectAttr>(binary.getObjects()[0])
               .getObject()
               .getValue()
               .str();
  parse();
}

void KernelFunction::parse() {
  ptx::ModuleOrError parsed = ptx::Module::parse(text);
  EXPECT_TRUE(parsed) << parsed.error;
  kernels = parsed.value;
}

void KernelFunction::removeBarriers() {
  constexpr StringLiteral barrier = "bar.sync";
  size_t count = 0;
  for (size_t at; (at = text.find(barrier)) != std::string::npos; ++count)
    text.erase(at, text.find('\n', at) - at);
  EXPECT_GT(count, 0u);
  parse();
}

int64_t KernelFunction::getWorkspaceBytes() {
  return cast<MemRefType>(host.getArgumentTypes().back()).getNumElements();
}

/// The traffic with all buffers of global memory.
static ptx::Traffic getGlobalTraffic(const ptx::Counters &counters) {
  ptx::Traffic sum;
  for (const auto &[name, traffic] : counters.traffic) {
    if (name == "shared" || name == "local")
      continue;
    sum.bytesRead += traffic.bytesRead;
    sum.bytesWritten += traffic.bytesWritten;
    sum.sectorsRead += traffic.sectorsRead;
    sum.sectorsWritten += traffic.sectorsWritten;
  }
  return sum;
}

int64_t KernelRun::getAskedBytes() const {
  ptx::Traffic traffic = getGlobalTraffic(counters);
  return traffic.bytesRead + traffic.bytesWritten;
}

int64_t KernelRun::getSectorBytes() const {
  ptx::Traffic traffic = getGlobalTraffic(counters);
  return 32 * (traffic.sectorsRead + traffic.sectorsWritten);
}

static ptx::Dim getDim(gpu::KernelDim3 sizes) {
  auto get = [](Value size) {
    return static_cast<uint32_t>(*getConstantIntValue(size));
  };
  return {get(sizes.x), get(sizes.y), get(sizes.z)};
}

static int64_t getThreads(const ptx::Launch &launch) {
  auto count = [](ptx::Dim dim) { return int64_t(dim.x) * dim.y * dim.z; };
  return count(launch.grid) * count(launch.block);
}

static int64_t getBytes(Type type) {
  auto memory = cast<MemRefType>(type);
  return memory.getNumElements() * ((memory.getElementTypeBitWidth() + 7) / 8);
}

KernelDevice::~KernelDevice() = default;

namespace {
/// The interpreter.
class PtxDevice : public KernelDevice {
public:
  PtxDevice(std::shared_ptr<const ptx::Module> kernels,
            std::vector<KernelRun> &runs, std::string &faults)
      : machine(std::move(kernels)), runs(runs), faults(faults) {}

  ptx::Address allocate(const std::string &name, int64_t bytes) override {
    return machine.allocate(name, bytes);
  }
  void write(ptx::Address to, const void *from, int64_t bytes) override {
    machine.write(to, from, bytes);
  }
  void read(ptx::Address from, void *to, int64_t bytes) override {
    machine.read(from, to, bytes);
  }
  void launch(const ptx::Launch &launch) override;

private:
  ptx::Machine machine;
  std::vector<KernelRun> &runs;
  std::string &faults;
};
} // namespace

void PtxDevice::launch(const ptx::Launch &launch) {
  ptx::LaunchResult result = machine.launch(launch);
  if (!result.ok())
    faults += result.describe();
  int64_t bytes = 0;
  for (const ptx::AccessedRange &range : machine.getAccesses())
    bytes += range.bytes;
  runs.push_back({launch.kernel, getThreads(launch), result.counters, bytes});
}

/// Where buffers are: one address a root.
using Addresses = DenseMap<Value, ptx::Address>;

static void launch(gpu::LaunchFuncOp op, const Addresses &addresses,
                   KernelDevice &device) {
  ptx::Launch launch(op.getKernelName().str(),
                     getDim(op.getGridSizeOperandValues()),
                     getDim(op.getBlockSizeOperandValues()));
  for (Value operand : op.getKernelOperands()) {
    ASSERT_TRUE(isa<MemRefType>(operand.getType()))
        << "the host would have to compute an argument";
    cuda::Memory memory = cuda::getMemory(operand);
    ASSERT_TRUE(addresses.count(memory.root)) << "a buffer of the host's";
    launch.argument(addresses.lookup(memory.root) + memory.offset);
  }
  device.launch(launch);
}

Tensors KernelFunction::run(ArrayRef<nn::HostTensor> arguments) {
  runs.clear();
  faults.clear();
  PtxDevice device(kernels, runs, faults);
  return runOn(device, arguments);
}

/// Room for each argument of the host's function, even if it has no bytes.
SmallVector<ptx::Address> KernelFunction::allocateOn(KernelDevice &device) {
  SmallVector<ptx::Address> places;
  for (Type type : host.getArgumentTypes())
    places.push_back(
        device.allocate("argument " + std::to_string(places.size()),
                        std::max<int64_t>(getBytes(type), 1)));
  return places;
}

void KernelFunction::launch(KernelDevice &device,
                            ArrayRef<ptx::Address> arguments) {
  Addresses addresses;
  for (auto [argument, place] : llvm::zip_equal(host.getArguments(), arguments))
    addresses[argument] = place;
  for (auto op : host.getBody().getOps<gpu::LaunchFuncOp>())
    ::launch(op, addresses, device);
}

void KernelFunction::launchOn(KernelDevice &device) {
  launch(device, allocateOn(device));
}

Tensors KernelFunction::runOn(KernelDevice &device,
                              ArrayRef<nn::HostTensor> arguments) {
  SmallVector<ptx::Address> places = allocateOn(device);
  for (auto [type, tensor, place] :
       llvm::zip(function.getArgumentTypes(), arguments, places)) {
    Buffer buffer(pp::getBytes(type));
    buffer.write(cast<RankedTensorType>(type).getElementType(), tensor);
    device.write(place, buffer.getData(), pp::getBytes(type));
  }
  launch(device, places);
  Tensors tensors;
  LayerSignature signature(function);
  size_t next = arguments.size();
  for (auto [type, shared] :
       llvm::zip_equal(function.getResultTypes(), signature.sharedArguments)) {
    ptx::Address place = places[shared ? *shared : next++];
    Buffer buffer(pp::getBytes(type));
    device.read(place, buffer.getData(), pp::getBytes(type));
    tensors.push_back(buffer.read(cast<RankedTensorType>(type)));
  }
  return tensors;
}
