//===- CUDA.h - The parts of the CUDA target --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CUDA_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CUDA_H

#include "mlir/Pass/PassManager.h"

namespace pipewright::cuda {

/// Kernels, their code for \p chips, and the LLVM dialect with bare pointers
/// for the host, which launches them.
void addLoweringPasses(mlir::OpPassManager &pm, llvm::StringRef chips);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CUDA_H
