//===- LoopedBFS.cpp - The looped-bfs schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Orders.h"

using namespace pipewright;

/// gpipe on several chunks per rank: every rank runs all micro-batches on one
/// chunk before it turns to the next. That sums the gradients of a stage in
/// one go, and holds the activations of all micro-batches. As in gpipe, the
/// backwards run from the first micro-batch to the last.
static llvm::Expected<Schedule> buildLoopedBFS(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  Schedule schedule(shape);
  for (int64_t rank = 0; rank < shape.ranks; ++rank)
    addAlternating(schedule, rank,
                   listInterleaved(shape, rank, /*groups=*/shape.microbatches),
                   {/*warmup=*/shape.chunks * shape.microbatches});
  return schedule;
}

namespace pipewright {
void registerLoopedBFS(ScheduleRegistry &registry) {
  registry.add({/*name=*/"looped-bfs",
                /*summary=*/"gpipe on several chunks per rank, chunk by chunk",
                /*source=*/"Lamy-Poirier, MLSys 2023, arXiv:2211.05953",
                buildLoopedBFS,
                /*chunks=*/2});
}
} // namespace pipewright
