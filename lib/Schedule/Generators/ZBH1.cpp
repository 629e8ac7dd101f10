//===- ZBH1.cpp - The zb-h1 schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/ScheduleRegistry.h"

#include <algorithm>

using namespace pipewright;

/// The order of 1f1b with the gradient for the inputs alone where that has the
/// full backward, so gradients reach the previous rank sooner. Rank p runs the
/// gradient for the weights p micro-batches later, where it would wait
/// otherwise; no rank holds more than P micro-batches.
static llvm::Expected<Schedule> buildZBH1(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  if (llvm::Error error = checkOneChunk("zb-h1", shape))
    return error;
  Schedule schedule(shape);
  for (int64_t rank = 0; rank < shape.ranks; ++rank) {
    int64_t warmup = std::min(shape.ranks - rank, shape.microbatches);
    for (int64_t mb = 0; mb < warmup; ++mb)
      schedule.addForward(rank, /*stage=*/rank, mb);
    for (int64_t mb = 0; mb < shape.microbatches; ++mb) {
      schedule.addInputGradient(rank, /*stage=*/rank, mb);
      if (mb >= rank)
        schedule.addWeightGradient(rank, /*stage=*/rank, mb - rank);
      if (mb + warmup < shape.microbatches)
        schedule.addForward(rank, /*stage=*/rank, mb + warmup);
    }
    for (int64_t mb = std::max<int64_t>(0, shape.microbatches - rank);
         mb < shape.microbatches; ++mb)
      schedule.addWeightGradient(rank, /*stage=*/rank, mb);
  }
  return schedule;
}

namespace pipewright {
void registerZBH1(ScheduleRegistry &registry) {
  registry.add({/*name=*/"zb-h1",
                /*summary=*/"1f1b with weight gradients moved into its bubble",
                /*source=*/"Qi et al., ICLR 2024, arXiv:2401.10241",
                buildZBH1});
}
} // namespace pipewright
