//===- VHalf.cpp - The v-half schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/BuildingBlock.h"

using namespace pipewright;

/// A V in which forwards go down the ranks at half speed and come back at full
/// speed, and backwards the same. A rank holds an activation of its first chunk
/// the longer the earlier it is in the pipeline, and one of its second chunk
/// the shorter, such that all ranks hold the same: about half of what 1f1b
/// holds at most.
static llvm::Expected<Schedule> buildVHalf(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  if (llvm::Error error = checkChunks(shape, 2))
    return error;
  int64_t ranks = shape.ranks;
  // Keeps the four passes apart modulo 6.
  int64_t gap = ranks % 2 == 0 ? 3 : 0;
  std::vector<BuildingBlock> blocks;
  for (int64_t rank = 0; rank < ranks; ++rank)
    blocks.push_back({2 * rank, 3 * ranks - 2 - rank,
                      3 * ranks + gap + 2 * rank - 1,
                      6 * ranks + gap - rank - 2});
  return repeatBlocks(shape, blocks, /*limit=*/2 * ((ranks + 2) / 2));
}

namespace pipewright {
void registerVHalf(ScheduleRegistry &registry) {
  registry.add({/*name=*/"v-half",
                /*summary=*/
                "two chunks per rank in a V: half of the activations of 1f1b",
                /*source=*/"Qi et al., NeurIPS 2024, arXiv:2405.15362",
                buildVHalf,
                /*chunks=*/2});
}
} // namespace pipewright
