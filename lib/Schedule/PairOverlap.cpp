//===- PairOverlap.cpp - What one overlapped pair takes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/PairOverlap.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

using namespace llvm;
using namespace pipewright;

namespace {
/// Segments placed one by one, each as early as its lane and what it needs
/// allow.
class Placement {
public:
  explicit Placement(ArrayRef<Segment> segments)
      : segments(segments), ends(segments.size(), notPlaced) {
    for (const Segment &segment : segments)
      left[getLane(segment)] += segment.time;
  }

  bool canPlace(size_t index) const {
    return ends[index] == notPlaced &&
           all_of(segments[index].after,
                  [&](int64_t other) { return ends[other] != notPlaced; });
  }

  void place(size_t index) {
    const Segment &segment = segments[index];
    double start = free[getLane(segment)];
    for (int64_t other : segment.after)
      start = std::max(start, ends[other]);
    ends[index] = free[getLane(segment)] = start + segment.time;
    left[getLane(segment)] -= segment.time;
  }

  /// What the segments take at least once all are placed.
  double getBound() const {
    return std::max(free[0] + left[0], free[1] + left[1]);
  }
  double getEnd() const { return std::max(free[0], free[1]); }

private:
  static constexpr double notPlaced = -1;
  static size_t getLane(const Segment &segment) {
    return static_cast<size_t>(segment.lane);
  }

  ArrayRef<Segment> segments;
  SmallVector<double, 16> ends;
  /// Per lane, when it is free, and the time of what it still has to run.
  std::array<double, 2> free = {0, 0}, left = {0, 0};
};
} // namespace

double pipewright::runSegments(ArrayRef<Segment> segments) {
  Placement placement(segments);
  for (size_t index = 0; index < segments.size(); ++index) {
    assert(placement.canPlace(index) && "a segment comes before what it needs");
    placement.place(index);
  }
  return placement.getEnd();
}

/// Lowers \p best to the time of the best way to go on from \p placement, which
/// lacks \p open segments.
static void search(const Placement &placement, size_t segments, size_t open,
                   double &best) {
  if (placement.getBound() >= best)
    return;
  if (open == 0) {
    best = placement.getEnd();
    return;
  }
  for (size_t index = 0; index < segments; ++index) {
    if (!placement.canPlace(index))
      continue;
    Placement next = placement;
    next.place(index);
    search(next, segments, open - 1, best);
  }
}

double pipewright::runSegmentsInBestOrder(ArrayRef<Segment> segments) {
  assert(segments.size() <= 16 && "too many orders to look at");
  double best = std::numeric_limits<double>::infinity();
  search(Placement(segments), segments.size(), segments.size(), best);
  return best;
}
