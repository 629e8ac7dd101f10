//===- CPUTarget.cpp - x86-64 processors, one thread a rank
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU.h"

using namespace pipewright;

namespace {
struct CPUTarget : CodegenTarget {
  llvm::StringRef getName() const override { return "cpu"; }
  llvm::StringRef getDescription() const override {
    return "x86-64 processors, one thread a rank, MPI between ranks";
  }
  bool hasMatMul(mlir::Type element) const override {
    return element.isF32() || element.isBF16() || element.isF16();
  }
  void emitMatMul(const MatMulCall &call, mlir::Location loc,
                  mlir::OpBuilder &builder) const override {
    cpu::emitMatMul(call, loc, builder);
  }
  void emitExpertCall(const ExpertCall &call, mlir::Location loc,
                      mlir::OpBuilder &builder) const override {
    cpu::emitExpertCall(call, loc, builder);
  }
  void addLoweringPasses(mlir::OpPassManager &pm) const override {
    cpu::addLoweringPasses(pm);
  }
  llvm::Expected<ObjectCode>
  emitObject(llvm::Module &module,
             const TargetOptions &options) const override {
    return cpu::emitObject(module, options.processor);
  }
  void addEntryPoint(llvm::Module &module) const override {
    cpu::addEntryPoint(module);
  }
  llvm::Error linkExecutable(const LinkOptions &options,
                             llvm::StringRef path) const override {
    return cpu::linkExecutable(options, path);
  }
};
} // namespace

namespace pipewright {
void registerCPUTarget(TargetRegistry &registry) {
  registry.add(std::make_unique<CPUTarget>());
}
} // namespace pipewright
