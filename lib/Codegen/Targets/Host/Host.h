//===- Host.h - What code on x86-64 processors needs ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank is a process of an x86-64 machine whatever computes its layers, so
// targets share how its code is made and how its executable is linked.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_HOST_HOST_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_HOST_HOST_H

#include "pipewright/Codegen/Target.h"

namespace pipewright::host {

/// Emits a call of the `…Matmul…` for the operands' types. Names of the
/// runtime's functions for a target begin with \p prefix.
void emitMatMul(const MatMulCall &call, llvm::StringRef prefix,
                mlir::Location loc, mlir::OpBuilder &builder);

/// Emits a call of the `…Expert…` for the operands' types.
void emitExpertCall(const ExpertCall &call, llvm::StringRef prefix,
                    mlir::Location loc, mlir::OpBuilder &builder);

/// From loops, arithmetic and memrefs to the LLVM dialect with bare pointers.
void addLLVMPasses(mlir::OpPassManager &pm);

/// An error if there is no \p processor as `emitObject` takes it.
llvm::Error checkProcessor(llvm::StringRef processor);

/// Optimizes and emits for x86-64. The processor is `native` or one of LLVM's
/// names, such as `x86-64-v3`.
llvm::Expected<ObjectCode> emitObject(llvm::Module &module,
                                      llvm::StringRef processor);

/// Adds `_start`, which hands `main` to the C library.
void addEntryPoint(llvm::Module &module);

/// Links, with lld, a shared library that is also an executable: other programs
/// can load it, several ranks into one process too, and see its descriptor.
llvm::Error linkExecutable(const LinkOptions &options, llvm::StringRef path);

} // namespace pipewright::host

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_HOST_HOST_H
