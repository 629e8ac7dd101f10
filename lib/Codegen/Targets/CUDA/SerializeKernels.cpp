//===- SerializeKernels.cpp - Kernels as PTX
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Chips.h"
#include "Toolkit.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Triple.h"

namespace pipewright {
#define GEN_PASS_DEF_SERIALIZEKERNELS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

/// A function that only the toolkit's library has, or null.
static LLVM::LLVMFuncOp findLibraryFunction(ModuleOp module) {
  LLVM::LLVMFuncOp found;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
      if (function.isExternal())
        found = function;
  return found;
}

/// Says that one block a multiprocessor is enough: the assembler then gives a
/// kernel the registers it needs. Left to itself it has some kernels spill, so
/// that more blocks fit.
static void allowRegisters(ModuleOp module) {
  auto one = Builder(module.getContext()).getI32IntegerAttr(1);
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal())
        function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), one);
}

/// Tells how types are aligned on the device. Without it, accesses of 8 bytes
/// would be taken for aligned to 4, and split.
static void setDataLayouts(ModuleOp module) {
  std::string layout = llvm::Triple("nvptx64-nvidia-cuda").computeDataLayout();
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    kernels->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                     StringAttr::get(module.getContext(), layout));
}

namespace {
struct SerializeKernels
    : pipewright::impl::SerializeKernelsBase<SerializeKernels> {
  using SerializeKernelsBase::SerializeKernelsBase;

  void runOnOperation() override {
    llvm::Expected<SmallVector<std::string>> all =
        cuda::getChips(chips.empty() ? "sm_90" : llvm::join(chips, ","));
    if (!all) {
      getOperation().emitError(llvm::toString(all.takeError()));
      return signalPassFailure();
    }
    llvm::Expected<std::string> toolkit = cuda::findToolkit();
    LLVM::LLVMFuncOp needed = findLibraryFunction(getOperation());
    if (!toolkit) {
      getOperation().emitError(llvm::toString(toolkit.takeError()));
      return signalPassFailure();
    }
    if (toolkit->empty() && needed) {
      needed.emitError("is of the CUDA toolkit's library: ")
          << cuda::missingToolkit;
      return signalPassFailure();
    }
    allowRegisters(getOperation());
    setDataLayouts(getOperation());
    if (failed(runPipeline(*buildPipeline(*all, *toolkit), getOperation())))
      signalPassFailure();
  }

private:
  std::unique_ptr<OpPassManager> buildPipeline(ArrayRef<std::string> all,
                                               StringRef toolkit) {
    auto pm = std::make_unique<OpPassManager>(ModuleOp::getOperationName());
    for (const std::string &chip : all) {
      GpuNVVMAttachTargetOptions options;
      options.chip = chip;
      // The lowest version of PTX that has the chip.
      options.features = "";
      options.optLevel = 3;
      pm->addPass(createGpuNVVMAttachTarget(options));
    }
    GpuModuleToBinaryPassOptions options;
    options.toolkitPath = toolkit.str();
    options.compilationTarget = "isa";
    pm->addPass(createGpuModuleToBinaryPass(options));
    return pm;
  }
};
} // namespace
