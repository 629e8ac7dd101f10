//===- BuildingBlock.h - Schedules that repeat a pattern --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_BUILDINGBLOCK_H
#define PIPEWRIGHT_SCHEDULE_BUILDINGBLOCK_H

#include "pipewright/Schedule/ScheduleRegistry.h"

#include <array>

namespace pipewright {

/// When one rank of a V, with two chunks, works on the first micro-batch if F,
/// B and W of a chunk take one unit of time each: F of the first chunk, F of
/// the second, B of the second, B of the first. The others follow 6 units
/// apart, so no two of these times may be equal modulo 6.
using BuildingBlock = std::array<int64_t, 4>;

/// Repeats the \p blocks, one per rank, for all micro-batches, with gradients
/// for the weights in the gaps; then moves work at both ends earlier as long as
/// that helps and no rank holds more than \p limit activations of a chunk,
/// which the repeated blocks must not need either. The distance between F and B
/// in a block is what sets the memory (Qi et al., NeurIPS 2024,
/// arXiv:2405.15362).
Schedule repeatBlocks(const ScheduleShape &shape,
                      const std::vector<BuildingBlock> &blocks, int64_t limit);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_BUILDINGBLOCK_H
