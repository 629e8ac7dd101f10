//===- HostBlocks.h - What the host runs of a function ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_HOSTBLOCKS_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_HOSTBLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pipewright::cuda {

/// Whether the host decides which of the op's regions run, and how often.
bool isControlFlow(mlir::Operation *op);

/// The blocks of \p function that the host runs, each after those in it. Other
/// ops with regions are loops for kernels.
llvm::SmallVector<mlir::Block *> collectHostBlocks(mlir::func::FuncOp function);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_HOSTBLOCKS_H
