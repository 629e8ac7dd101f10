//===- LoopNest.h - Loops right inside each other ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_LOOPNEST_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_LOOPNEST_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace pipewright::cuda {

/// \p outermost and the loops right inside each other in it, as far as each
/// runs over [0, n) for a known n.
llvm::SmallVector<mlir::scf::ForOp> getNest(mlir::scf::ForOp outermost);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_LOOPNEST_H
