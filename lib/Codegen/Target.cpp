//===- Target.cpp - What code generation asks of a target
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Target.h"

#include "llvm/Support/ErrorHandling.h"

using namespace pipewright;

namespace pipewright {
#define PIPEWRIGHT_ENTRY(NAME) void register##NAME(TargetRegistry &registry);
#include "pipewright/Codegen/Targets.def"
#undef PIPEWRIGHT_ENTRY
} // namespace pipewright

CodegenTarget::~CodegenTarget() = default;

bool CodegenTarget::hasEpilogue(const EpilogueCall &call) const {
  return false;
}

void CodegenTarget::emitEpilogue(const EpilogueCall &call, mlir::Location loc,
                                 mlir::OpBuilder &builder) const {
  llvm_unreachable("the target's library has no epilogues");
}

void CodegenTarget::emitEpilogueChoice(
    const EpilogueCall &call,
    llvm::function_ref<void(mlir::OpBuilder &)> emitLibrary,
    llvm::function_ref<void(mlir::OpBuilder &)> emitOthers, mlir::Location loc,
    mlir::OpBuilder &builder) const {
  llvm_unreachable("the target's library has no epilogues");
}

bool CodegenTarget::hasConvolution(const ConvolutionCall &call) const {
  return false;
}

void CodegenTarget::emitConvolution(const ConvolutionCall &call,
                                    mlir::Location loc,
                                    mlir::OpBuilder &builder) const {
  llvm_unreachable("the target's library has no convolutions");
}

bool CodegenTarget::hasPooling(const PoolingCall &call) const { return false; }

void CodegenTarget::emitPooling(const PoolingCall &call, mlir::Location loc,
                                mlir::OpBuilder &builder) const {
  llvm_unreachable("the target's library does not pool");
}

bool CodegenTarget::hasAttention(const AttentionCall &call) const {
  return false;
}

void CodegenTarget::emitAttention(const AttentionCall &call, mlir::Location loc,
                                  mlir::OpBuilder &builder) const {
  llvm_unreachable("the target's library has no attention");
}

int64_t CodegenTarget::getAttentionWorkspace(const AttentionCall &call) const {
  llvm_unreachable("the target's library has no attention");
}

void CodegenTarget::emitAttentionGradient(const AttentionGradientCall &call,
                                          mlir::Location loc,
                                          mlir::OpBuilder &builder) const {
  llvm_unreachable("the target's library has no attention");
}

void CodegenTarget::addBufferPasses(mlir::OpPassManager &functions) const {}

static TargetRegistry makeRegistry() {
  TargetRegistry registry;
#define PIPEWRIGHT_ENTRY(NAME) register##NAME(registry);
#include "pipewright/Codegen/Targets.def"
#undef PIPEWRIGHT_ENTRY
  return registry;
}

const TargetRegistry &TargetRegistry::get() {
  static const TargetRegistry registry = makeRegistry();
  return registry;
}

const CodegenTarget *TargetRegistry::find(llvm::StringRef name) const {
  for (const std::unique_ptr<CodegenTarget> &target : targets)
    if (target->getName() == name)
      return target.get();
  return nullptr;
}

const CodegenTarget *TargetRegistry::findOrReport(llvm::StringRef name,
                                                  mlir::Location loc) const {
  const CodegenTarget *target = find(name);
  if (!target)
    mlir::emitError(loc) << "there is no target '" << name << "'";
  return target;
}
