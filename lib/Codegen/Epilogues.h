//===- Epilogues.h - What follows products ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_EPILOGUES_H
#define PIPEWRIGHT_LIB_CODEGEN_EPILOGUES_H

#include "pipewright/Codegen/Target.h"

#include "mlir/IR/PatternMatch.h"

namespace pipewright {

/// Makes \p op and what follows it code that computes both in one of two ways,
/// if the target's library has the two in one call, and if nothing would be
/// computed together with them otherwise. \p product describes the op itself.
void lowerEpilogue(nn::MatMulOp op, const MatMulCall &product,
                   const CodegenTarget &target, mlir::RewriterBase &rewriter);

/// The same for a product that is the gradient of weights and the gradient of
/// the bias beside it. False if there is none.
bool lowerBiasGradient(nn::MatMulOp op, const MatMulCall &product,
                       const CodegenTarget &target,
                       mlir::RewriterBase &rewriter);

/// Whether \p user has its operand in memory, whoever computes that.
bool readsMemory(mlir::Operation *user);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_EPILOGUES_H
