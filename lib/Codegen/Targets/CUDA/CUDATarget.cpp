//===- CUDATarget.cpp - NVIDIA devices, one a rank
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Host/Host.h"
#include "CUDA.h"
#include "Chips.h"
#include "Toolkit.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace pipewright;

static constexpr llvm::StringLiteral prefix = "pprtCuda";
static constexpr llvm::StringLiteral copyFunction = "pprtCudaCopy";

/// The host's code only calls the runtime: it runs on any processor.
static constexpr llvm::StringLiteral hostProcessor = "x86-64";

/// Declares the runtime's function for \p call, unless the module has it.
static mlir::LLVM::LLVMFuncOp declareCopy(const CopyCall &call,
                                          mlir::OpBuilder &builder) {
  using namespace mlir;
  auto module = builder.getBlock()->getParent()->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(copyFunction))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(
      builder, module.getLoc(), copyFunction,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  {call.target.getType(), call.source.getType(),
                                   call.bytes.getType()}));
}

namespace {
struct CUDATarget : CodegenTarget {
  llvm::StringRef getName() const override { return "cuda"; }
  llvm::StringRef getDescription() const override {
    return "NVIDIA devices from sm_80 on, one a rank, NCCL between ranks";
  }
  llvm::StringRef getRuntimeLibrary() const override {
    return "libpprt-cuda.so";
  }
  llvm::StringRef getDevice(const TargetOptions &options) const override {
    return cuda::getDevice(options.processor);
  }
  bool keepsMessagesApart() const override { return true; }
  llvm::Expected<TargetOptions>
  resolveOptions(const TargetOptions &options) const override {
    auto chips = cuda::getChips(options.processor);
    if (!chips)
      return chips.takeError();
    if (auto assembler = cuda::findAssembler(); !assembler)
      return assembler.takeError();
    auto convolutions = cuda::resolveConvolutions(options.libraryConvolutions);
    if (!convolutions)
      return convolutions.takeError();
    if (llvm::Error error = cuda::checkAttention(options.libraryAttention))
      return error;
    return TargetOptions{llvm::join(*chips, ","), *convolutions,
                         options.libraryAttention};
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
  bool hasEpilogue(const EpilogueCall &call) const override {
    return cuda::hasEpilogue(call);
  }
  void emitEpilogue(const EpilogueCall &call, mlir::Location loc,
                    mlir::OpBuilder &builder) const override {
    cuda::emitEpilogue(call, prefix, loc, builder);
  }
  void
  emitEpilogueChoice(const EpilogueCall &call,
                     llvm::function_ref<void(mlir::OpBuilder &)> emitLibrary,
                     llvm::function_ref<void(mlir::OpBuilder &)> emitOthers,
                     mlir::Location loc,
                     mlir::OpBuilder &builder) const override {
    cuda::emitEpilogueChoice(call, emitLibrary, emitOthers, prefix, loc,
                             builder);
  }
  bool hasConvolution(const ConvolutionCall &call) const override {
    return cuda::hasConvolution(call);
  }
  void emitConvolution(const ConvolutionCall &call, mlir::Location loc,
                       mlir::OpBuilder &builder) const override {
    cuda::emitConvolution(call, prefix, loc, builder);
  }
  bool hasPooling(const PoolingCall &call) const override {
    return cuda::hasPooling(call);
  }
  void emitPooling(const PoolingCall &call, mlir::Location loc,
                   mlir::OpBuilder &builder) const override {
    cuda::emitPooling(call, prefix, loc, builder);
  }
  bool hasAttention(const AttentionCall &call) const override {
    return cuda::hasAttention(call);
  }
  void emitAttention(const AttentionCall &call, mlir::Location loc,
                     mlir::OpBuilder &builder) const override {
    cuda::emitAttention(call, prefix, loc, builder);
  }
  int64_t getAttentionWorkspace(const AttentionCall &call) const override {
    return cuda::getAttentionWorkspace(call);
  }
  void emitAttentionGradient(const AttentionGradientCall &call,
                             mlir::Location loc,
                             mlir::OpBuilder &builder) const override {
    cuda::emitAttentionGradient(call, prefix, loc, builder);
  }
  void emitCopy(const CopyCall &call, mlir::Location loc,
                mlir::OpBuilder &builder) const override {
    mlir::LLVM::CallOp::create(
        builder, loc, declareCopy(call, builder),
        mlir::ValueRange{call.target, call.source, call.bytes});
  }
  void addBufferPasses(mlir::OpPassManager &functions) const override {
    functions.addPass(createCopyConstants());
    addKernelPasses(functions);
  }
  void addLoweringPasses(mlir::OpPassManager &pm,
                         const TargetOptions &options) const override {
    cuda::addLoweringPasses(pm, options.processor);
  }
  llvm::Expected<ObjectCode>
  emitObject(llvm::Module &module,
             const TargetOptions &options) const override {
    return host::emitObject(module, hostProcessor);
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
void registerCUDATarget(TargetRegistry &registry) {
  registry.add(std::make_unique<CUDATarget>());
}
} // namespace pipewright
