//===- Scatter.h - Loops that add to lines of a table -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_SCATTER_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_SCATTER_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace pipewright::cuda {

/// The store of `table[..., key, ...] = table[..., key, ...] + update` in
/// loops.
struct Scatter {
  mlir::scf::ForOp outermost;
  mlir::memref::StoreOp store;
  mlir::memref::LoadOp load;
  mlir::Operation *sum = nullptr;
  mlir::Value key, update;
  /// The loops over items, on which the key depends, and those over the
  /// elements of a line.
  llvm::SmallVector<mlir::scf::ForOp> items, columns;
};

/// Finds what is added to what, if the last op of \p body, the innermost of
/// some loops, stores it and nothing else is stored.
bool matchSum(mlir::Block *body, Scatter &scatter);

/// The scattered sum that \p outermost and the loops in it are, or none.
std::optional<Scatter> matchScatter(mlir::scf::ForOp outermost);

/// Whether no two items have the same key, as those of positions.
bool hasDistinctKeys(const Scatter &scatter);

/// The ops of \p body that \p value is computed by, in order.
llvm::SmallVector<mlir::Operation *> getSlice(mlir::Value value,
                                              mlir::Block *body);

/// How often each of \p loops runs.
llvm::SmallVector<int64_t> getExtents(llvm::ArrayRef<mlir::scf::ForOp> loops);

/// Has the loops of \p scatter compute themselves what an elementwise op before
/// them makes of one operand for them, such as a cast. Erases the op if nothing
/// else needs it.
void inlineUpdate(Scatter &scatter);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_SCATTER_H
