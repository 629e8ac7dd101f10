//===- SimplifyOps.h - linalg ops as kernels want them ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_SIMPLIFYOPS_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_SIMPLIFYOPS_H

#include "mlir/IR/PatternMatch.h"

namespace pipewright::cuda {

/// Makes all copies and linalg ops of \p block `linalg.generic`s with as few
/// loops as can be. Their loops are in the order of the results' axes, or, in
/// reductions, of the operand's that is reduced: those that are reduced follow
/// each other. Single loads in their bodies are of what was not cast for them.
/// Ops that fill buffers come right before the buffers are used.
mlir::LogicalResult simplifyOps(mlir::Block &block,
                                mlir::RewriterBase &rewriter);

/// The last op before \p user that may write what \p buffer is, if it is not
/// before \p first; null if there is none.
mlir::Operation *findWriter(mlir::Operation *user, mlir::Value buffer,
                            mlir::Operation *first = nullptr);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_SIMPLIFYOPS_H
