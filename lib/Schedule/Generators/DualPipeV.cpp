//===- DualPipeV.cpp - The dualpipev schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/DualPipeSteps.h"

using namespace pipewright;

/// One half of dualpipe, folded: the way back of the V takes the place of the
/// other direction, so one copy of the model is enough.
static llvm::Expected<Schedule> buildDualPipeV(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  if (llvm::Error error = checkChunks(shape, 2))
    return error;
  if (llvm::Error error = checkDualPipeMicrobatches(shape))
    return error;
  Schedule schedule(shape, placeInWaves(shape.ranks, shape.chunks));
  for (int64_t rank = 0; rank < shape.ranks; ++rank)
    addDualPipeSteps(schedule, rank,
                     {/*near=*/StageLane(rank),
                      /*far=*/StageLane(2 * shape.ranks - 1 - rank),
                      /*depth=*/shape.ranks, /*position=*/rank});
  return schedule;
}

namespace pipewright {
void registerDualPipeV(ScheduleRegistry &registry) {
  registry.add(
      {/*name=*/"dualpipev",
       /*summary=*/"dualpipe in a V, with one copy of the parameters",
       /*source=*/
       "Sea AI Lab and DeepSeek-AI, 2025, github.com/deepseek-ai/DualPipe",
       buildDualPipeV,
       /*chunks=*/2});
}
} // namespace pipewright
