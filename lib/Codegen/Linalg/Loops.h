//===- Loops.h - Loop nests of what is sequential by nature -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_LINALG_LOOPS_H
#define PIPEWRIGHT_LIB_CODEGEN_LINALG_LOOPS_H

#include "Arithmetic.h"

#include "mlir/IR/PatternMatch.h"

namespace pipewright {

/// Replaces \p op, which has one result, by the same op on f32 between casts
/// if the result is of 16 bits: what is summed in memory needs the digits.
llvm::LogicalResult sumWidened(mlir::Operation *op,
                               mlir::PatternRewriter &rewriter);

/// Loops over all coordinates of \p shape, the last axis innermost.
void createLoops(Arithmetic &arith, llvm::ArrayRef<int64_t> shape,
                 llvm::function_ref<void(Arithmetic &, mlir::ValueRange)> body);

/// Adds each element of \p updates, a tensor, to the element of \p result, the
/// tensor of an op's result, at the position that \p locate gives for its
/// coordinates, in the order of the updates. All other elements are 0.
using LocateFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    Arithmetic &, mlir::ValueRange coordinates)>;
void addInto(mlir::Value result, mlir::Value updates,
             mlir::PatternRewriter &rewriter, LocateFn locate);

/// The same where the position depends on the elements of \p indices, a
/// tensor, of which \p locate gets the buffer.
using LocateIndexedFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    Arithmetic &, mlir::ValueRange coordinates, mlir::Value indices)>;
void addInto(mlir::Value result, mlir::Value updates, mlir::Value indices,
             mlir::PatternRewriter &rewriter, LocateIndexedFn locate);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_LINALG_LOOPS_H
