//===- ZBV.cpp - The zb-v schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Orders.h"

#include <algorithm>

using namespace pipewright;

/// The first chunk of each rank goes down the ranks and the second comes back
/// up, so the last stage is on rank 0 and the first gradients reach it early.
/// With F = B = W no rank waits between its first and its last action, in the
/// memory of 1f1b. Rules are simple from 2 P - 1 micro-batches on: fewer are
/// the first of as many.
static void addZBV(Schedule &schedule, int64_t rank) {
  int64_t ranks = schedule.getRanks();
  int64_t microbatches = std::max(2 * ranks - 1, schedule.getMicrobatches());
  StageLane first(rank), second(2 * ranks - 1 - rank);
  LaneWriter lane(schedule, rank);
  for (int64_t i = 0; i < 2 * (ranks - rank) - 1; ++i)
    lane.add({first.forward()});
  for (int64_t i = 0; i < rank; ++i)
    lane.add({second.forward(), first.forward()});
  for (int64_t i = 0; i < ranks - rank; ++i)
    lane.add(
        {second.forward(), second.inputGradient(), second.weightGradient()});
  while (second.getForwards() < microbatches) {
    if (first.getForwards() < microbatches)
      lane.add({first.forward()});
    lane.add({first.inputGradient(), first.weightGradient(), second.forward(),
              second.inputGradient(), second.weightGradient()});
  }
  for (int64_t i = 0; i < rank; ++i)
    lane.add({first.inputGradient(), second.inputGradient()});
  for (int64_t i = 0; i < ranks - rank; ++i)
    lane.add({first.inputGradient(), first.weightGradient()});
  while (second.getWeightGradients() < microbatches)
    lane.add({second.weightGradient()});
  while (first.getWeightGradients() < microbatches)
    lane.add({first.weightGradient()});
}

static llvm::Expected<Schedule> buildZBV(const ScheduleRequest &request) {
  ScheduleShape shape = request.shape;
  if (llvm::Error error = checkChunks(shape, 2))
    return error;
  shape.microbatches = std::max(2 * shape.ranks - 1, shape.microbatches);
  if (llvm::Error error = checkTractable(shape))
    return error;
  Schedule schedule(request.shape, placeInWaves(shape.ranks, shape.chunks));
  for (int64_t rank = 0; rank < shape.ranks; ++rank)
    addZBV(schedule, rank);
  return schedule;
}

namespace pipewright {
void registerZBV(ScheduleRegistry &registry) {
  registry.add({/*name=*/"zb-v",
                /*summary=*/
                "two chunks per rank in a V: no bubble in the memory of 1f1b",
                /*source=*/"Qi et al., NeurIPS 2024, arXiv:2405.15362",
                buildZBV,
                /*chunks=*/2});
}
} // namespace pipewright
