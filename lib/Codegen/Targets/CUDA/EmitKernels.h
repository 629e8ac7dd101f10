//===- EmitKernels.h - The kinds of kernels ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_EMITKERNELS_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_EMITKERNELS_H

#include "KernelGroups.h"
#include "Launch.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Support/LLVM.h"

namespace pipewright::cuda {

// Each of these emits one launch where the builder stands, in place of ops that
// the caller erases. They fail, with an error, if the host would have to
// compute what the kernel needs.

/// A thread computes one chunk of elements.
mlir::LogicalResult emitElements(const KernelGroup &group, Launcher &launcher,
                                 mlir::ImplicitLocOpBuilder &builder);

/// A block computes a square of elements; the operands of \p crossings go
/// through shared memory.
mlir::LogicalResult emitTiles(const KernelGroup &group,
                              llvm::ArrayRef<Crossing> crossings,
                              Launcher &launcher,
                              mlir::ImplicitLocOpBuilder &builder);

/// A block, a warp or a part of one computes one row. Rows that fit stay in
/// registers. For others, each reduction goes over the row again, and computes
/// what ops in between make of it.
mlir::LogicalResult emitRows(const KernelGroup &group, Launcher &launcher,
                             mlir::ImplicitLocOpBuilder &builder);

/// A block reduces a few columns. Threads in direction y share the rows and
/// meet in shared memory.
mlir::LogicalResult emitColumns(const KernelGroup &group, Launcher &launcher,
                                mlir::ImplicitLocOpBuilder &builder);

/// A thread, or a few that share the reduction, computes one element of the
/// results. Sums are in an order that depends on the shape alone.
/// The results begin as \p fill, if it is not null, fills them.
mlir::LogicalResult emitOutputs(mlir::linalg::GenericOp op,
                                mlir::linalg::GenericOp fill,
                                Launcher &launcher,
                                mlir::ImplicitLocOpBuilder &builder);

/// A thread runs those of the loops, \p loop and the ones right inside it,
/// whose iterations touch each other's memory, for one iteration of the others.
/// Fails, with an error, if there are no others.
mlir::LogicalResult emitLoops(mlir::scf::ForOp loop, Launcher &launcher,
                              mlir::ImplicitLocOpBuilder &builder);

/// A thread runs an iteration of \p loops.
mlir::LogicalResult emitParallel(mlir::scf::ParallelOp loops,
                                 Launcher &launcher,
                                 mlir::ImplicitLocOpBuilder &builder);

/// One thread stores what is left over by loops, such as of the last group of a
/// few elements.
mlir::LogicalResult emitStores(llvm::ArrayRef<mlir::memref::StoreOp> stores,
                               Launcher &launcher,
                               mlir::ImplicitLocOpBuilder &builder);

/// \p value of all threads of a row, combined. A row has \p threads threads,
/// which follow each other in direction x; all threads of the block call this.
mlir::Value reduceThreads(mlir::ImplicitLocOpBuilder &builder,
                          mlir::gpu::LaunchOp launch, const Combiner &combiner,
                          mlir::Value value, int64_t threads);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_EMITKERNELS_H
