//===- Chimera.cpp - The chimera schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Orders.h"

#include "llvm/ADT/STLExtras.h"

using namespace pipewright;

namespace {
struct Slot {
  int64_t time;
  Action action;
};
} // namespace

/// Two pipelines of P / 2 micro-batches each, one down and one up the ranks,
/// fit into each other: in the table of slots of one action, where the one has
/// a gap the other works. The next P micro-batches begin 2 P slots later, in
/// the gap that the first ones leave.
static void addChimera(Schedule &schedule, int64_t rank) {
  int64_t ranks = schedule.getRanks(), perUnit = ranks / 2;
  std::vector<Slot> slots;
  for (int64_t direction : {0, 1}) {
    int64_t stage = direction == 0 ? rank : ranks - 1 - rank;
    for (int64_t mb = 0; mb < schedule.getMicrobatches(); ++mb) {
      int64_t begin = 2 * ranks * (mb / perUnit) + 2 * (mb % perUnit);
      slots.push_back({begin + stage, {ActionKind::F, stage, mb, direction}});
      slots.push_back({begin + 2 * ranks - 1 - stage,
                       {ActionKind::BW, stage, mb, direction}});
    }
  }
  llvm::sort(slots, [](const Slot &lhs, const Slot &rhs) {
    return lhs.time < rhs.time;
  });
  for (const Slot &slot : slots)
    schedule.add(rank, slot.action);
}

static llvm::Expected<Schedule> buildChimera(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  if (llvm::Error error = checkChunks(shape, 1))
    return error;
  if (llvm::Error error = checkMultiple("ranks", shape.ranks, 2))
    return error;
  if (llvm::Error error =
          checkMultiple("micro-batches", shape.microbatches, shape.ranks))
    return error;
  Schedule schedule(shape, placeBothWays(shape.ranks));
  for (int64_t rank = 0; rank < shape.ranks; ++rank)
    addChimera(schedule, rank);
  return schedule;
}

namespace pipewright {
void registerChimera(ScheduleRegistry &registry) {
  registry.add(
      {/*name=*/"chimera",
       /*summary=*/"two pipelines, down and up, that fill each other's gaps",
       /*source=*/"Li and Hoefler, SC 2021, arXiv:2107.06925", buildChimera});
}
} // namespace pipewright
