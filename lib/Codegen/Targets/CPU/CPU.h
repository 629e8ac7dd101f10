//===- CPU.h - The parts of the CPU target ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CPU_CPU_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CPU_CPU_H

#include "pipewright/Codegen/Target.h"

namespace pipewright::cpu {

/// Emits a call of the `pprtCpuMatmul…` for the operands' types.
void emitMatMul(const MatMulCall &call, mlir::Location loc,
                mlir::OpBuilder &builder);

/// Emits a call of the `pprtCpuExpert…` for the operands' types.
void emitExpertCall(const ExpertCall &call, mlir::Location loc,
                    mlir::OpBuilder &builder);

/// Loops, polynomial math, and the LLVM dialect with bare pointers.
void addLoweringPasses(mlir::OpPassManager &pm);

/// Optimizes and emits for x86-64. The processor is `native` or one of LLVM's
/// names, such as `x86-64-v3`.
llvm::Expected<ObjectCode> emitObject(llvm::Module &module,
                                      llvm::StringRef processor);

/// Adds `_start`, which hands `main` to the C library.
void addEntryPoint(llvm::Module &module);

/// Links a position-independent executable with lld.
llvm::Error linkExecutable(const LinkOptions &options, llvm::StringRef path);

} // namespace pipewright::cpu

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CPU_CPU_H
