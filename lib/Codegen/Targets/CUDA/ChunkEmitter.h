//===- ChunkEmitter.h - Ops on a few elements of a row ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a thread does: it computes chunks, a few elements that follow each
// other. A chunk is loaded and stored as a vector and computed element by
// element, as the machine does it.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CHUNKEMITTER_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CHUNKEMITTER_H

#include "KernelGroups.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <vector>

namespace pipewright::cuda {

/// Elements of a row.
struct Chunk {
  /// The column of the first one.
  mlir::Value column;
  int64_t length;
  /// Whether the thread computes it for good; null if it always does. If not,
  /// its elements are those of another chunk and must not count.
  mlir::Value isActive;
};

/// Emits the ops of a group for one thread.
class ChunkEmitter {
public:
  /// \p row is null if the space has one row; for results of columns, it is the
  /// result's number. Values that are read again come from registers.
  ChunkEmitter(const KernelGroup &group, mlir::ImplicitLocOpBuilder &builder,
               mlir::Value row)
      : group(group), builder(builder), row(row) {}

  /// Loads what \p kernelOp reads of the row, so that it is not done in a loop
  /// over its elements.
  void loadRows(const KernelOp &kernelOp);

  /// Has the ops find \p operand of \p kernelOp for the chunk of one element at
  /// \p column in a register.
  void provide(const KernelOp &kernelOp, mlir::OpOperand &operand,
               mlir::Value column, mlir::Value value) {
    keep(kernelOp.getAccess(operand), column, value);
  }

  /// Has the ops whose loops have \p extents find the \p indices of the element
  /// at \p column.
  void provideIndices(llvm::ArrayRef<int64_t> extents, mlir::Value column,
                      llvm::ArrayRef<mlir::Value> indices) {
    knownIndices.push_back(
        {llvm::to_vector(extents), column, llvm::to_vector(indices)});
  }

  /// Computes an op of the form Element for \p chunk. `storeElements` stores
  /// the results.
  void emitElements(const KernelOp &kernelOp, const Chunk &chunk);

  /// What each element of \p chunk contributes: per result, per element.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  emitContributions(const KernelOp &kernelOp, const Chunk &chunk);

  /// Combines the \p totals of a result with what the results held before.
  void emitTotals(const KernelOp &kernelOp, mlir::ValueRange totals);

  /// Computes an op of the form Result.
  void emitRow(const KernelOp &kernelOp);

  /// Whether something is stored where another thread may have loaded from:
  /// then no thread may store before all have loaded.
  bool storesOverLoads() const;
  void storeElements();
  /// Forgets what `storeElements` would store: it is computed again later.
  void dropElements() { elementStores.clear(); }
  /// Stores what was computed of rows; one thread a row has to.
  void storeRows();

private:
  /// What registers hold: the elements of a chunk, or the value of the row, of
  /// which the chunk is null.
  struct Known {
    Access access;
    mlir::Value column;
    llvm::SmallVector<mlir::Value> values;
  };
  /// A store that is left for the end.
  struct Store {
    Access access;
    Chunk chunk;
    llvm::SmallVector<mlir::Value> indices;
    llvm::SmallVector<mlir::Value> values;
  };

  struct KnownIndices {
    llvm::SmallVector<int64_t> extents;
    mlir::Value column;
    llvm::SmallVector<mlir::Value> indices;
  };

  const Known *find(const Access &access, mlir::Value column) const;
  void keep(const Access &access, mlir::Value column, mlir::ValueRange values);

  llvm::SmallVector<mlir::Value> getLoopIndices(const KernelOp &kernelOp,
                                                mlir::Value column);
  llvm::SmallVector<mlir::Value> read(const KernelOp &kernelOp,
                                      mlir::OpOperand &operand,
                                      const Chunk &chunk,
                                      llvm::ArrayRef<mlir::Value> indices);
  mlir::Value readRow(const Access &access,
                      llvm::ArrayRef<mlir::Value> indices);
  void write(const KernelOp &kernelOp, mlir::OpOperand &init,
             const Chunk &chunk, llvm::ArrayRef<mlir::Value> indices,
             mlir::ValueRange values);
  void writeRow(const Access &access, llvm::ArrayRef<mlir::Value> indices,
                mlir::Value value);
  void store(const Store &store);

  const KernelGroup &group;
  mlir::ImplicitLocOpBuilder &builder;
  mlir::Value row;
  std::vector<Known> known;
  std::vector<KnownIndices> knownIndices;
  llvm::SmallVector<Access> loadedRows;
  std::vector<Store> elementStores, rowStores;
};

/// Where \p map points to in the iteration with \p indices.
llvm::SmallVector<mlir::Value> applyMap(mlir::ImplicitLocOpBuilder &builder,
                                        mlir::AffineMap map,
                                        llvm::ArrayRef<mlir::Value> indices);

/// The loads in the body of an op that, for a chunk of \p length elements, load
/// elements that follow each other: the lines of a table, for example.
class VectorLoads {
public:
  VectorLoads(mlir::linalg::GenericOp op, int64_t length);

  /// Maps the result of \p op to that for the next element of the chunk, if it
  /// is such a load; the first time, loads all of them.
  bool clone(mlir::ImplicitLocOpBuilder &builder, mlir::Operation &op,
             mlir::IRMapping &mapping);

private:
  int64_t length;
  /// The elements that are left, the next one last.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> loaded;
};

/// The body of \p op in the iteration with \p indices, of which \p arguments
/// are the values of the block's arguments; unused ones may be null. Ops in
/// \p without are left out; \p vectorLoads has loads of the whole chunk.
/// Returns \p wanted as computed here.
llvm::SmallVector<mlir::Value> cloneBody(mlir::ImplicitLocOpBuilder &builder,
                                         mlir::linalg::GenericOp op,
                                         llvm::ArrayRef<mlir::Value> arguments,
                                         llvm::ArrayRef<mlir::Value> indices,
                                         mlir::ValueRange wanted,
                                         llvm::ArrayRef<Combiner> without = {},
                                         VectorLoads *vectorLoads = nullptr);

/// \p combiner applied to \p lhs and \p rhs.
mlir::Value combine(mlir::ImplicitLocOpBuilder &builder,
                    const Combiner &combiner, mlir::Value lhs, mlir::Value rhs);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CHUNKEMITTER_H
