//===- Patterns.h - How nn ops become linalg ops ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per op family, in the file of that name. f16 and bf16 are only
// how elements are stored: an op computes in f32, and rounds its results once.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_LINALG_PATTERNS_H
#define PIPEWRIGHT_LIB_CODEGEN_LINALG_PATTERNS_H

namespace mlir {
class RewritePatternSet;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace pipewright {

/// Turns sums of zero-padded tensors that make up a whole into nn.concat.
void joinPads(mlir::func::FuncOp function);

void populateAttentionToLinalg(mlir::RewritePatternSet &patterns);
void populateConvolutionToLinalg(mlir::RewritePatternSet &patterns);
void populateElementwiseToLinalg(mlir::RewritePatternSet &patterns);
void populateEmbeddingToLinalg(mlir::RewritePatternSet &patterns);
void populateExpertsToLinalg(mlir::RewritePatternSet &patterns);
void populateLossToLinalg(mlir::RewritePatternSet &patterns);
void populateMatMulToLinalg(mlir::RewritePatternSet &patterns);
void populateNormalizationToLinalg(mlir::RewritePatternSet &patterns);
void populateRandomToLinalg(mlir::RewritePatternSet &patterns);
void populateReductionToLinalg(mlir::RewritePatternSet &patterns);
void populateShapeToLinalg(mlir::RewritePatternSet &patterns);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_LINALG_PATTERNS_H
