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
  buildBufferizePipeline(pm, /*library=*/nullptr);
  buildKernelPipeline(pm);
  pm.addPass(createSerializeKernels());
  if (failed(pm.run(*module)))
    return;
  host =
      module->lookupSymbol<func::FuncOp>(getLayerSymbol(function.getSymName()));
  std::string text;
  for (auto binary : module->getOps<gpu::BinaryOp>())
    text = cast<gpu::ObjectAttr>(binary.getObjects()[0])
               .getObject()
               .getValue()
               .str();
  ptx::ModuleOrError parsed = ptx::Module::parse(text);
  EXPECT_TRUE(parsed) << parsed.error;
  kernels = parsed.value;
}

std::vector<std::string> KernelFunction::getLaunches() {
  std::vector<std::string> names;
  for (auto launch : host.getBody().getOps<gpu::LaunchFuncOp>())
    names.push_back(launch.getKernelName().str());
  return names;
}

static ptx::Dim getDim(gpu::KernelDim3 sizes) {
  auto get = [](Value size) {
    return static_cast<uint32_t>(*getConstantIntValue(size));
  };
  return {get(sizes.x), get(sizes.y), get(sizes.z)};
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
  EXPECT_TRUE(result.ok()) << result.describe();
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
  allocate(cast<MemRefType>(host.getArgumentTypes().back()).getNumElements());

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
