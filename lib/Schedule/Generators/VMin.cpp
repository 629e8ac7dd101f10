//===- VMin.cpp - The v-min schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/BuildingBlock.h"

using namespace pipewright;

/// The V that holds least: all passes follow each other without a gap, so each
/// rank holds about a third of what 1f1b holds at most. Any difference between
/// the times of F, B and W makes it slower.
static llvm::Expected<Schedule> buildVMin(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  if (llvm::Error error = checkChunks(shape, 2))
    return error;
  int64_t ranks = shape.ranks;
  // Keeps the four passes apart modulo 6.
  int64_t gap = ranks % 3 == 0 ? 2 : 0;
  std::vector<BuildingBlock> blocks;
  for (int64_t rank = 0; rank < ranks; ++rank)
    blocks.push_back({rank, 2 * ranks - 1 - rank, 2 * ranks + gap + rank,
                      4 * ranks + gap - 1 - rank});
  return repeatBlocks(shape, blocks, /*limit=*/2 * ((ranks + 4) / 3));
}

namespace pipewright {
void registerVMin(ScheduleRegistry &registry) {
  registry.add(
      {/*name=*/"v-min",
       /*summary=*/
       "two chunks per rank in a V: a third of the activations of 1f1b",
       /*source=*/"Qi et al., NeurIPS 2024, arXiv:2405.15362", buildVMin,
       /*chunks=*/2});
}
} // namespace pipewright
