//===- MergeLoops.h - linalg ops with as few loops as can be ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_MERGELOOPS_H
#define PIPEWRIGHT_LIB_CODEGEN_MERGELOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace pipewright {

/// \p op, which must work on buffers, as a `linalg.generic` of which loops that
/// are one loop over memory are one loop. Ops that ask for their loops' indices
/// keep them. Reports an op that works on tensors.
mlir::FailureOr<mlir::linalg::GenericOp>
toMergedGeneric(mlir::linalg::LinalgOp op, mlir::RewriterBase &rewriter);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_MERGELOOPS_H
