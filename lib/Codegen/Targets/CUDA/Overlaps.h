//===- Overlaps.h - Sums of windows that overlap ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_OVERLAPS_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_OVERLAPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace pipewright::cuda {

/// Makes \p outermost and the loops in it, if they add windows that overlap, as
/// the gradient of a convolution does, parallel loops that follow each other:
/// one for each position within a window, so that no two of its iterations
/// meet. Each element is summed in the order that it was. Returns whether it
/// did.
bool parallelizeOverlaps(mlir::scf::ForOp outermost);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_OVERLAPS_H
