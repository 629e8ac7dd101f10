//===- Placement.h - Which rank holds which stage ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ways in which schedules lay stages on ranks. Each function returns the
// rank of each stage, one list per direction, as Schedule takes it.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_PLACEMENT_H
#define PIPEWRIGHT_SCHEDULE_PLACEMENT_H

#include <cstdint>
#include <vector>

namespace pipewright {

using Placement = std::vector<std::vector<int64_t>>;

/// From rank 0 to the last, \p chunks times: 0 1 2 0 1 2.
Placement placeInLoops(int64_t ranks, int64_t chunks);

/// To the last rank and back, in turns: 0 1 2 2 1 0, the V of two chunks.
Placement placeInWaves(int64_t ranks, int64_t chunks);

/// Two copies of a pipeline with one stage per rank, the second from the last
/// rank to the first: 0 1 2 and 2 1 0.
Placement placeBothWays(int64_t ranks);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_PLACEMENT_H
