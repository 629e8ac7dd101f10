//===- KernelPipeline.cpp - From bufferized functions to kernels
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Host/Host.h"
#include "CUDA.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace pipewright;

void pipewright::addKernelPasses(OpPassManager &functions) {
  functions.addPass(createSplitReductions());
  functions.addPass(createParallelizeScatters());
  functions.addPass(createLowerToKernels());
}

void pipewright::buildKernelPipeline(OpPassManager &pm) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createLowerToKernels());
  // f16 and bf16 are how values are stored; sums and functions are of f32.
  arith::ArithEmulateUnsupportedFloatsOptions narrow;
  narrow.sourceTypeStrs = {"f16", "bf16"};
  functions.addPass(arith::createArithEmulateUnsupportedFloats(narrow));
  functions.addPass(math::createMathExtendToSupportedTypes());
  functions.addPass(createLowerDeviceMath());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());

  // Constants are part of the code, everything else is an argument.
  pm.addPass(createGpuLaunchSinkIndexComputationsPass());
  pm.addPass(createGpuKernelOutliningPass());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  // Address arithmetic becomes explicit before memrefs become pointers.
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.useVectorAlignment = false;
  kernels.addPass(createConvertVectorToLLVMPass(vectors));
  ConvertGpuOpsToNVVMOpsOptions options;
  // A kernel's arguments are pointers, and not shapes, which it knows.
  options.useBarePtrCallConv = true;
  kernels.addPass(createConvertGpuOpsToNVVMOps(options));
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
}

void cuda::addLoweringPasses(OpPassManager &pm, StringRef chips) {
  buildKernelPipeline(pm);
  SerializeKernelsOptions serialize;
  serialize.chips.push_back(chips.str());
  pm.addPass(createSerializeKernels(serialize));
  pm.addPass(createAssembleKernels());
  // What is left is the host's: addresses of buffers, and calls.
  pm.addPass(createLowerLaunches());
  host::addLLVMPasses(pm);
}

void pipewright::registerKernelDialects(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect, NVVM::NVVMDialect>();
  // The conversion to NVVM asks the dialects for theirs.
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
}

namespace {
struct KernelOptions : PassPipelineOptions<KernelOptions> {
  ListOption<std::string> chips{
      *this, "chips",
      llvm::cl::desc("The chips to make code for, such as sm_90 (default "
                     "sm_90)")};
  Option<bool> assemble{
      *this, "assemble",
      llvm::cl::desc("Make machine code of the PTX, which stays beside it"),
      llvm::cl::init(false)};
};
} // namespace

void pipewright::registerKernelPipelines() {
  PassPipelineRegistration<KernelOptions>(
      "pp-codegen-kernels", "compile bufferized functions to kernels",
      [](OpPassManager &pm, const KernelOptions &options) {
        buildKernelPipeline(pm);
        SerializeKernelsOptions serialize;
        serialize.chips.assign(options.chips.begin(), options.chips.end());
        pm.addPass(createSerializeKernels(serialize));
        if (options.assemble)
          pm.addPass(createAssembleKernels());
      });
}
