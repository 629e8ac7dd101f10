//===- GPipe.cpp - The gpipe schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/ScheduleRegistry.h"

using namespace pipewright;

/// Every rank runs all forwards and then all backwards, so it holds the
/// activations of all micro-batches. The paper's figure runs the backwards
/// from the last micro-batch to the first; ascending order takes the same time
/// and adds weight gradients in the order that all our schedules use.
static llvm::Expected<Schedule> buildGPipe(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  if (llvm::Error error = checkChunks(shape, 1))
    return error;
  Schedule schedule(shape);
  for (int64_t rank = 0; rank < shape.ranks; ++rank) {
    for (int64_t mb = 0; mb < shape.microbatches; ++mb)
      schedule.addForward(rank, /*stage=*/rank, mb);
    for (int64_t mb = 0; mb < shape.microbatches; ++mb)
      schedule.addBackward(rank, /*stage=*/rank, mb);
  }
  return schedule;
}

namespace pipewright {
void registerGPipe(ScheduleRegistry &registry) {
  registry.add({/*name=*/"gpipe",
                /*summary=*/"all forwards, then all backwards",
                /*source=*/"Huang et al., NeurIPS 2019, arXiv:1811.06965",
                buildGPipe});
}
} // namespace pipewright
