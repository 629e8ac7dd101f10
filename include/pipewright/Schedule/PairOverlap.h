//===- PairOverlap.h - What one overlapped pair takes -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An overlapped pair runs a forward and a backward on two lanes: while one
// computes, the other's messages between experts move. This model turns the
// times of their segments into the time of the pair, CostModel::pair.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_PAIROVERLAP_H
#define PIPEWRIGHT_SCHEDULE_PAIROVERLAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace pipewright {

enum class SegmentLane : uint8_t { Compute, Communication };

/// A part of a forward or of a backward that runs on one lane.
struct Segment {
  SegmentLane lane;
  double time;
  /// Positions of the segments that come before it.
  llvm::SmallVector<int64_t, 2> after = {};
};

/// The time of \p segments if each lane runs its own one after the other in the
/// order of the list, in which each comes after what it needs.
double runSegments(llvm::ArrayRef<Segment> segments);

/// The same with the order of each lane that takes least. Looks at all orders,
/// but for those that cannot be better: a pair has about ten segments, and 16
/// are the most.
double runSegmentsInBestOrder(llvm::ArrayRef<Segment> segments);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_PAIROVERLAP_H
