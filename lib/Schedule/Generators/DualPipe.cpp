//===- DualPipe.cpp - The dualpipe schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/DualPipeSteps.h"

#include <algorithm>

using namespace pipewright;

/// Half of the micro-batches go down the ranks and half go up, through two
/// copies of the model, so that each rank has a forward of one and a backward
/// of the other to overlap. The lower half of the ranks are the first to see
/// those that go down, the upper half those that go up.
static llvm::Expected<Schedule> buildDualPipe(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  if (llvm::Error error = checkChunks(shape, 1))
    return error;
  if (llvm::Error error = checkMultiple("ranks", shape.ranks, 2))
    return error;
  if (llvm::Error error = checkDualPipeMicrobatches(shape))
    return error;
  if (llvm::Error error = checkMultiple("micro-batches", shape.microbatches, 2))
    return error;
  Schedule schedule(shape, placeBothWays(shape.ranks));
  for (int64_t rank = 0; rank < shape.ranks; ++rank) {
    int64_t mirrored = shape.ranks - 1 - rank;
    StageLane down(rank, /*direction=*/0), up(mirrored, /*direction=*/1);
    bool isLower = rank < mirrored;
    addDualPipeSteps(schedule, rank,
                     {/*near=*/isLower ? down : up, /*far=*/isLower ? up : down,
                      /*depth=*/shape.ranks / 2,
                      /*position=*/std::min(rank, mirrored)});
  }
  return schedule;
}

namespace pipewright {
void registerDualPipe(ScheduleRegistry &registry) {
  registry.add(
      {/*name=*/"dualpipe",
       /*summary=*/"both ends at once, forwards overlapped with backwards",
       /*source=*/"DeepSeek-AI, 2024, arXiv:2412.19437", buildDualPipe});
}
} // namespace pipewright
