//===- PlanLayer.h - What a planner knows of a layer ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times are whole picoseconds and sizes whole bytes, so that sums are exact and
// every search gives the same answer everywhere. Includes no MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PLAN_PLANLAYER_H
#define PIPEWRIGHT_PLAN_PLANLAYER_H

#include "pipewright/Schedule/RoleParts.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace pipewright {

/// What a layer computes again before its backward. None: nothing. Selective:
/// what is cheap to compute. Full: all but what enters the layer or, of several
/// in a row, the first of them.
enum class Remat : uint8_t { None, Selective, Full };

/// "none", "selective", "full".
llvm::StringRef getName(Remat remat);

/// The policies that a planner may choose from.
struct RematSet {
  bool none = true, selective = true, full = true;

  static RematSet only(Remat remat) {
    return {remat == Remat::None, remat == Remat::Selective,
            remat == Remat::Full};
  }
  bool contains(Remat remat) const {
    return remat == Remat::None        ? none
           : remat == Remat::Selective ? selective
                                       : full;
  }
};

/// One layer, or several that are never cut apart, on one micro-batch.
struct PlanLayer {
  /// Times of F, B and W.
  int64_t forward = 0, backward = 0, weight = 0;
  /// Of its parameters, their gradients and what the optimizer keeps.
  int64_t parameterBytes = 0;
  /// Those of them that are of parts of parameters, which fewer replicas hold.
  int64_t shardBytes = 0;
  /// Bytes that cross if a stage begins at the layer: 0 for the first one.
  int64_t bytesBefore = 0;
  /// Kept for backward if nothing, or only what is expensive, is kept.
  int64_t savedBytes = 0, selectiveBytes = 0;
  /// What comes from replicas, which `Full` keeps, and how much of F this
  /// takes.
  int64_t exchangedBytes = 0, exchangeTime = 0;
  /// To compute what `Selective` does not keep.
  int64_t selectiveTime = 0;
  /// The layers that it is, if any of them exchanges rows.
  std::vector<LayerCost> exchangingLayers = {};

  int64_t getWork() const { return forward + backward + weight; }
  /// The time that \p remat adds.
  int64_t getAddedTime(Remat remat) const {
    return remat == Remat::None        ? 0
           : remat == Remat::Selective ? selectiveTime
                                       : forward - exchangeTime;
  }
  /// What is kept of each micro-batch from F on; \p entersRun: the layer before
  /// is in another stage or not `Full`.
  int64_t getKeptBytes(Remat remat, bool entersRun) const {
    return remat == Remat::None        ? savedBytes
           : remat == Remat::Selective ? selectiveBytes
           : entersRun                 ? bytesBefore + exchangedBytes
                                       : exchangedBytes;
  }
  /// What is there in addition once it has been computed again.
  int64_t getRecomputedBytes(Remat remat) const {
    return remat == Remat::None        ? 0
           : remat == Remat::Selective ? savedBytes - selectiveBytes
                                       : savedBytes;
  }
};

} // namespace pipewright

#endif // PIPEWRIGHT_PLAN_PLANLAYER_H
