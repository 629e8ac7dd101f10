//===- MachineMemory.h - The memory of a rank that runs on numbers -*- C++ -*-//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_MACHINEMEMORY_H
#define PIPEWRIGHT_LIB_SCHEDULE_MACHINEMEMORY_H

#include "OverlapChecker.h"

#include <map>

namespace pipewright {

/// One action of a rank.
struct ProgramAction {
  mlir::Operation *op;
  int64_t microbatch;
};

/// What a rank's memory holds: numbers that stand for tensors, each over as
/// many bytes as the rank's arena gives it. What the arena does not place, or
/// all where there is none, has memory of its own.
class MachineMemory {
public:
  using Place = OverlapChecker::Place;

  /// A place and what was last written to it.
  struct Cell {
    Place place;
    int64_t number;
    /// No action: it is there from the beginning, for the whole run.
    std::optional<ProgramAction> writer;
  };

  /// Takes the places of \p arena, for the step or for eval, and fills those of
  /// bindings that last. Emits an error and fails if they overlap, or if a
  /// binding has not one slot for each micro-batch.
  mlir::LogicalResult readArena(pp::ArenaOp arena, int64_t microbatches,
                                bool isEval);

  /// Where a binding's value of a micro-batch lies.
  Place getPlace(pp::BindingAttr binding, int64_t microbatch);
  /// The cell, if the place still holds what was written to it.
  const Cell *find(const Place &place) const;
  /// A cell that has bytes of the place.
  const Cell *findIn(const Place &place) const;
  /// Overwrites what lies there. Emits an error and fails if that is to last.
  mlir::LogicalResult write(const Place &place, int64_t number,
                            const ProgramAction &writer);

private:
  bool isEval = false;
  llvm::DenseMap<mlir::Attribute, pp::PlaceOp> planned;
  /// Addresses of what no arena places: beyond it.
  llvm::DenseMap<std::pair<mlir::Attribute, int64_t>, int64_t> others;
  int64_t end = 0;
  /// By offset; no two share a byte.
  std::map<int64_t, Cell> cells;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_MACHINEMEMORY_H
