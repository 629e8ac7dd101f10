//===- EagerOneFOneB.cpp - The eager-1f1b schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/ScheduleRegistry.h"

#include <algorithm>

using namespace pipewright;

/// As 1f1b, but rank p of P starts with 2 (P - p) - 1 forwards: activations
/// arrive before they are needed, which hides the time of messages and costs
/// nearly twice the memory.
static llvm::Expected<Schedule> buildEagerOneFOneB(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  if (llvm::Error error = checkOneChunk("eager-1f1b", shape))
    return error;
  Schedule schedule(shape);
  for (int64_t rank = 0; rank < shape.ranks; ++rank) {
    int64_t warmup = std::min(2 * (shape.ranks - rank) - 1, shape.microbatches);
    for (int64_t mb = 0; mb < warmup; ++mb)
      schedule.addForward(rank, /*stage=*/rank, mb);
    for (int64_t mb = 0; mb < shape.microbatches; ++mb) {
      schedule.addBackward(rank, /*stage=*/rank, mb);
      if (mb + warmup < shape.microbatches)
        schedule.addForward(rank, /*stage=*/rank, mb + warmup);
    }
  }
  return schedule;
}

namespace pipewright {
void registerEagerOneFOneB(ScheduleRegistry &registry) {
  registry.add({/*name=*/"eager-1f1b",
                /*summary=*/"1f1b with more forwards ahead, to hide messages",
                /*source=*/"Zhuang et al., MLSys 2023, arXiv:2211.05322",
                buildEagerOneFOneB});
}
} // namespace pipewright
