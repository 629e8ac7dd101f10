//===- KernelFunction.cpp - Layer functions as kernels on no GPU
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

#include "Buffer.h"
#include "Targets/CUDA/Memory.h"

#include "pipewright/Codegen/Passes.h"
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
  buildBufferizePipeline(pm, /*library=*/nullptr, addKernelPasses);
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

void KernelFunction::launch(gpu::LaunchFuncOp op, Addresses &addresses,
                            ptx::Machine &machine) {
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
  ptx::LaunchResult result = machine.launch(launch);
  if (!result.ok())
    faults += result.describe();
  int64_t bytes = 0;
  for (const ptx::AccessedRange &range : machine.getAccesses())
    bytes += range.bytes;
  runs.push_back({launch.kernel, getThreads(launch), result.counters, bytes});
}

Tensors KernelFunction::run(ArrayRef<nn::HostTensor> arguments) {
  ptx::Machine machine(kernels);
  Addresses addresses;
  SmallVector<ptx::Address> places;
  auto allocate = [&](int64_t bytes) {
    size_t index = places.size();
    // Even what has no bytes has an address.
    places.push_back(machine.allocate("argument " + std::to_string(index),
                                      std::max<int64_t>(bytes, 1)));
    addresses[host.getArgument(index)] = places.back();
    return places.back();
  };
  for (auto [type, tensor] :
       llvm::zip_equal(function.getArgumentTypes(), arguments)) {
    Buffer buffer(pp::getBytes(type));
    buffer.write(cast<RankedTensorType>(type).getElementType(), tensor);
    machine.write(allocate(pp::getBytes(type)), buffer.getData(),
                  pp::getBytes(type));
  }
  SmallVector<ptx::Address> results;
  LayerSignature signature(function);
  for (auto [type, shared] :
       llvm::zip_equal(function.getResultTypes(), signature.sharedArguments))
    results.push_back(shared ? places[*shared] : allocate(pp::getBytes(type)));
  allocate(getWorkspaceBytes());

  runs.clear();
  faults.clear();
  for (auto op : host.getBody().getOps<gpu::LaunchFuncOp>())
    launch(op, addresses, machine);
  Tensors tensors;
  for (auto [type, address] :
       llvm::zip_equal(function.getResultTypes(), results)) {
    Buffer buffer(pp::getBytes(type));
    machine.read(address, buffer.getData(), pp::getBytes(type));
    tensors.push_back(buffer.read(cast<RankedTensorType>(type)));
  }
  return tensors;
}
