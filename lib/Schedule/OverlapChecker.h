//===- OverlapChecker.h - What may not run at the same time -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_OVERLAPCHECKER_H
#define PIPEWRIGHT_LIB_SCHEDULE_OVERLAPCHECKER_H

#include "pipewright/Schedule/StageGraph.h"

namespace pipewright {

/// Finds branches of a `pp.overlap` of which one writes what another reads or
/// writes: their result would depend on which is faster.
class OverlapChecker {
public:
  /// Where a binding's value of a micro-batch lies: `bytes` bytes from `offset`
  /// on of the rank's memory.
  struct Place {
    pp::BindingAttr binding;
    /// 0 for what all micro-batches share.
    int64_t microbatch = 0;
    int64_t offset = 0;
    /// 0 before memory has been planned: nothing else lies there.
    int64_t bytes = 0;

    bool isSame(const Place &other) const {
      return binding == other.binding && microbatch == other.microbatch;
    }
    /// Have they memory in common?
    bool meets(const Place &other) const {
      if (isSame(other))
        return true;
      return offset < other.offset + other.bytes &&
             other.offset < offset + bytes && bytes > 0 && other.bytes > 0;
    }
  };
  /// Where a binding's value of a micro-batch lies.
  using FindPlace = llvm::function_ref<Place(pp::BindingAttr, int64_t)>;

  /// Violations are of \p rule, or of S7 if they are about gradients.
  OverlapChecker(const StageGraph &graph, Rule rule)
      : graph(graph), rule(rule) {}

  /// To be called with each action of a program, in order. Emits an error and
  /// fails where a run meets one of another branch.
  mlir::LogicalResult visit(mlir::Operation *op, int64_t microbatch,
                            FindPlace findPlace);

private:
  /// What a run or an exchange does to a place.
  struct Access {
    mlir::Operation *op;
    int64_t microbatch;
    bool isWrite;
    Place place;
  };

  mlir::LogicalResult add(const Access &access);
  mlir::LogicalResult report(const Access &access, const Access &other) const;

  const StageGraph &graph;
  Rule rule;
  /// Of the overlap that is being visited.
  llvm::SmallVector<Access, 16> accesses;
};

/// Where values lie before memory has been planned: each micro-batch has its
/// own, but for gradients, to which all micro-batches add.
OverlapChecker::Place getUnplannedPlace(pp::BindingAttr binding,
                                        int64_t microbatch);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_OVERLAPCHECKER_H
