//===- CPUTarget.cpp - x86-64 processors, one thread a rank
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Host/Host.h"
#include "CPU.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace pipewright;

static constexpr llvm::StringLiteral prefix = "pprtCpu";

namespace {
struct CPUTarget : CodegenTarget {
  llvm::StringRef getName() const override { return "cpu"; }
  llvm::StringRef getDescription() const override {
    return "x86-64 processors, one thread a rank, MPI between ranks";
  }
  llvm::StringRef getRuntimeLibrary() const override { return "libpprt.so"; }
  llvm::StringRef getDevice(const TargetOptions &options) const override {
    return "cpu";
  }
  llvm::Expected<TargetOptions>
  resolveOptions(const TargetOptions &options) const override {
    if (llvm::Error error = host::checkProcessor(options.processor))
      return error;
    if (options.libraryConvolutions.value_or(false))
      return llvm::createStringError(
          "the target 'cpu' has no library for convolutions; leave out "
          "--convolutions, or give it 'kernels'");
    if (options.libraryAttention)
      return llvm::createStringError(
          "the target 'cpu' has no library for attention; leave out "
          "--attention, or give it 'kernels'");
    return TargetOptions{options.processor, /*libraryConvolutions=*/false};
  }
  bool hasMatMul(mlir::Type element) const override {
    return element.isF32() || element.isBF16() || element.isF16();
  }
  void emitMatMul(const MatMulCall &call, mlir::Location loc,
                  mlir::OpBuilder &builder) const override {
    host::emitMatMul(call, prefix, loc, builder);
  }
  void emitExpertCall(const ExpertCall &call, mlir::Location loc,
                      mlir::OpBuilder &builder) const override {
    host::emitExpertCall(call, prefix, loc, builder);
  }
  void emitCopy(const CopyCall &call, mlir::Location loc,
                mlir::OpBuilder &builder) const override {
    mlir::LLVM::MemcpyOp::create(builder, loc, call.target, call.source,
                                 call.bytes, /*isVolatile=*/false);
  }
  void addLoweringPasses(mlir::OpPassManager &pm,
                         const TargetOptions &options) const override {
    cpu::addLoweringPasses(pm);
  }
  llvm::Expected<ObjectCode>
  emitObject(llvm::Module &module,
             const TargetOptions &options) const override {
    return host::emitObject(module, options.processor);
  }
  void addEntryPoint(llvm::Module &module) const override {
    host::addEntryPoint(module);
  }
  llvm::Error linkExecutable(const LinkOptions &options,
                             llvm::StringRef path) const override {
    return host::linkExecutable(options, path);
  }
};
} // namespace

namespace pipewright {
void registerCPUTarget(TargetRegistry &registry) {
  registry.add(std::make_unique<CPUTarget>());
}
} // namespace pipewright
