//===- Orders.cpp - Orders that several schedules share
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Orders.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;
using namespace pipewright;

/// The micro-batches of the only stage of a rank, first to last.
static UnitLists listUnits(int64_t stage, int64_t microbatches) {
  UnitLists units;
  for (int64_t mb = 0; mb < microbatches; ++mb)
    units.forwards.push_back({stage, mb});
  units.backwards = units.forwards;
  return units;
}

UnitLists pipewright::listInterleaved(const ScheduleShape &shape, int64_t rank,
                                      ArrayRef<int64_t> groups) {
  UnitLists units;
  int64_t first = 0;
  for (int64_t size : groups) {
    for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
      int64_t stage = chunk * shape.ranks + rank;
      int64_t mirrored = (shape.chunks - 1 - chunk) * shape.ranks + rank;
      for (int64_t mb = first; mb < first + size; ++mb) {
        units.forwards.push_back({stage, mb});
        units.backwards.push_back({mirrored, mb});
      }
    }
    first += size;
  }
  return units;
}

/// Refuses group sizes out of range, and shapes that are too large with the
/// last group in full.
static Error checkGroups(const ScheduleRequest &request) {
  ScheduleShape shape = request.shape;
  int64_t least = shape.ranks;
  int64_t most = std::max(shape.ranks, shape.microbatches);
  if (request.group != 0 && request.group < least)
    return refuseNumber("groups of at least one micro-batch per rank, here " +
                            Twine(least),
                        request.group, least);
  if (request.group > most)
    return refuseNumber("groups of at most all micro-batches, here " +
                            Twine(most),
                        request.group, most);
  shape.microbatches = most + shape.ranks;
  return checkTractable(shape);
}

/// The sizes of the groups that \p request asks for, the largest first.
static Expected<std::vector<int64_t>>
getGroups(const ScheduleRequest &request) {
  if (Error error = checkGroups(request))
    return error;
  int64_t ranks = request.shape.ranks, left = request.shape.microbatches;
  std::vector<int64_t> groups;
  for (int64_t count = std::max<int64_t>(1, left / ranks); left > 0; --count) {
    int64_t equal = divideCeil(left, std::max<int64_t>(1, count));
    int64_t size = request.group == 0 ? equal : std::min(request.group, left);
    groups.push_back(std::max(size, ranks));
    left -= size;
  }
  return groups;
}

void pipewright::addAlternating(Schedule &schedule, int64_t rank,
                                const UnitLists &units,
                                const Alternation &alternation) {
  std::optional<int64_t> weightDelay = alternation.weightDelay;
  schedule.reserve(rank, units.forwards.size() +
                             (weightDelay ? 2 : 1) * units.backwards.size());
  LaneWriter lane(schedule, rank);
  auto add = [&](ActionKind kind, const Unit &unit) {
    lane.add({{kind, unit.stage, unit.microbatch}});
  };
  ArrayRef<Unit> forwards = units.forwards, backwards = units.backwards;
  int64_t first = std::min<int64_t>(alternation.warmup, forwards.size());
  for (const Unit &unit : forwards.take_front(first))
    add(ActionKind::F, unit);
  forwards = forwards.drop_front(first);

  int64_t pending = 0;
  for (auto [index, unit] : enumerate(backwards)) {
    add(weightDelay ? ActionKind::B : ActionKind::BW, unit);
    if (weightDelay && static_cast<int64_t>(index) >= *weightDelay)
      add(ActionKind::W, backwards[pending++]);
    if (!forwards.empty()) {
      add(ActionKind::F, forwards.front());
      forwards = forwards.drop_front();
    }
  }
  if (weightDelay)
    for (const Unit &unit : backwards.drop_front(pending))
      add(ActionKind::W, unit);
}

Expected<Schedule> pipewright::buildAlternating(const ScheduleRequest &request,
                                                AlternationRule rule) {
  const ScheduleShape &shape = request.shape;
  if (Error error = checkChunks(shape, 1))
    return error;
  Schedule schedule(shape);
  for (int64_t rank = 0; rank < shape.ranks; ++rank)
    addAlternating(schedule, rank, listUnits(rank, shape.microbatches),
                   rule(rank));
  return schedule;
}

Expected<Schedule> pipewright::buildInterleaved(const ScheduleRequest &request,
                                                AlternationRule rule) {
  const ScheduleShape &shape = request.shape;
  Expected<std::vector<int64_t>> groups = getGroups(request);
  if (!groups)
    return groups.takeError();
  Schedule schedule(shape);
  for (int64_t rank = 0; rank < shape.ranks; ++rank) {
    Alternation alternation = rule(rank);
    alternation.warmup += (shape.chunks - 1) * groups->front();
    addAlternating(schedule, rank, listInterleaved(shape, rank, *groups),
                   alternation);
  }
  return schedule;
}
