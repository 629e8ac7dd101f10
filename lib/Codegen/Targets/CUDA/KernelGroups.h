//===- KernelGroups.h - Ops that make one kernel ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel of several ops hands values on in registers, and computes one row
// without regard to how far other rows are. That is the same as running one op
// after the other as long as whoever reads what the kernel writes is the thread
// that wrote it: this is what a group checks of each op that joins it.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_KERNELGROUPS_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_KERNELGROUPS_H

#include "Memory.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <optional>
#include <vector>

namespace pipewright::cuda {

/// The elements that all ops of a kernel run over, numbered row by row. They
/// are reduced to a result for each row, or for each column of a few rows.
struct KernelSpace {
  int64_t rows, columns;
  /// How many rows that follow each other are reduced to one; 0 if each row is
  /// reduced to one value.
  int64_t reducedRows = 0;

  int64_t getNumElements() const { return rows * columns; }
  int64_t getNumResults() const {
    return reducedRows == 0 ? rows : rows / reducedRows * columns;
  }
};

/// What an op computes of the space.
enum class OpForm {
  Element,   ///< a value for each element
  Reduction, ///< a result for each row or column, from its elements
  Result     ///< a value for each result, from such values
};

/// Where an operand is read or written.
enum class Place {
  Element, ///< at the element's number
  Result,  ///< at the result's number
  Other
};

/// An operand in memory.
struct Access {
  mlir::Value buffer;
  mlir::AffineMap map;
  Place place;
  Memory memory;
  mlir::Operation *op;

  /// Whether each thread finds here the same elements as there.
  bool isSame(const Access &other) const;
};

/// Whether \p load, in the body of \p op, loads elements of one line of a
/// buffer in iterations of the innermost loop that follow each other.
bool loadsLine(mlir::memref::LoadOp load, mlir::linalg::GenericOp op);

/// How the contributions to a result of a reduction are combined.
struct Combiner {
  mlir::Operation *op;
  /// The operand of `op` that is not the result so far.
  mlir::Value contribution;
  mlir::TypedAttr neutral;
};

/// The combiners of the results of \p op; none if one is not known to allow any
/// order, or has no type that threads can exchange.
std::optional<llvm::SmallVector<Combiner>>
getCombiners(mlir::linalg::GenericOp op);

/// The space of an op that reduces rows or columns of an operand, or none.
std::optional<KernelSpace> getReducedSpace(mlir::linalg::GenericOp op);

/// An op in its place in a space.
struct KernelOp {
  KernelOp(mlir::linalg::GenericOp op, OpForm form)
      : op(op), form(form), extents(op.getStaticLoopRanges()) {}

  mlir::linalg::GenericOp op;
  OpForm form;
  llvm::SmallVector<int64_t> extents;
  /// How many of the outer loops run over rows; none if the loops run over the
  /// numbers of the elements in another shape. All, if the form is a result.
  std::optional<int64_t> rowLoops;
  /// The loops over results, if the form is a reduction.
  llvm::SmallVector<int64_t> resultLoops;
  /// Whether the space has a result for each row.
  bool rowsAreResults = true;
  /// Per result, if the form is a reduction.
  llvm::SmallVector<Combiner> combiners;

  Access getAccess(mlir::OpOperand &operand) const;
  /// Whether the op reads what is in the buffer of \p init.
  bool readsInit(mlir::OpOperand &init) const;
};

/// Ops that follow each other and become one kernel.
class KernelGroup {
public:
  explicit KernelGroup(KernelSpace space) : space(space) {}

  /// Adds \p op, unless it does not fit.
  bool add(mlir::linalg::GenericOp op);

  KernelSpace getSpace() const { return space; }
  llvm::ArrayRef<KernelOp> getOps() const { return ops; }
  llvm::ArrayRef<Access> getReads() const { return reads; }
  llvm::ArrayRef<Access> getWrites() const { return writes; }

  /// Whether all ops compute elements, of one row: then any thread may compute
  /// any element.
  bool isElementwise() const;

  /// How many elements a thread may load and store at once: at most 8, and 16
  /// bytes of each buffer, and no more than follow each other in all of them.
  int64_t getVectorLength() const;

  /// The number of different buffers of which each element is read or written.
  int64_t getNumElementBuffers() const;

  /// Whether the group touches what \p op reads or writes.
  bool sharesMemory(mlir::linalg::GenericOp op) const;

  /// Whether \p buffer is of no use after the ops of the group.
  bool isTemporary(mlir::Value buffer) const;

private:
  /// Whether \p user, which touches a buffer, comes after the group.
  bool isUsedAfter(mlir::Operation *user) const;

  KernelSpace space;
  std::vector<KernelOp> ops;
  llvm::SmallVector<Access> reads, writes;
};

/// An operand of which threads that follow each other would load elements that
/// are far apart, while those of iterations of another loop are together.
struct Crossing {
  const KernelOp *kernelOp;
  mlir::OpOperand *operand;
  int64_t loop;
};

/// The operands of elementwise ops that are read across; all have the same
/// loops.
llvm::SmallVector<Crossing> findCrossings(const KernelGroup &group);

/// Whether a row of \p group fits into the registers of its threads.
bool fitsRegisters(const KernelGroup &group);

/// Whether \p op may go before \p others, which come before it now.
bool mayPrecede(mlir::linalg::GenericOp op,
                llvm::ArrayRef<mlir::linalg::GenericOp> others);

/// Whether \p op reads nothing.
bool isFill(mlir::linalg::GenericOp op);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_KERNELGROUPS_H
