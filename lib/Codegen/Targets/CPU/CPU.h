//===- CPU.h - The parts of the CPU target ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CPU_CPU_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CPU_CPU_H

#include "mlir/Pass/PassManager.h"

namespace pipewright::cpu {

/// Loops, polynomial math, and the LLVM dialect with bare pointers.
void addLoweringPasses(mlir::OpPassManager &pm);

} // namespace pipewright::cpu

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CPU_CPU_H
