//===- ParallelRanks.cpp - Work on ranks that are independent
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParallelRanks.h"

#include "pipewright/Schedule/Schedule.h"

#include "llvm/Support/Parallel.h"

#include <algorithm>

using namespace llvm;
using namespace pipewright;

/// Fewer actions are done with before threads have started.
static constexpr int64_t fewActions = int64_t(1) << 18;

/// Ranks differ in their work, so there are more ranges than cores.
static constexpr int64_t mostRanges = 256;

static bool isLarge(const Schedule &schedule) {
  int64_t actions = 0;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    actions += schedule.getActions(rank).size();
  return actions > fewActions;
}

void pipewright::forEachRange(const Schedule &schedule, bool inParallel,
                              function_ref<void(int64_t, int64_t)> function) {
  int64_t ranks = schedule.getRanks();
  if (!inParallel || !isLarge(schedule))
    return function(0, ranks);
  int64_t ranges = std::min(ranks, mostRanges);
  parallelFor(0, ranges, [&](size_t range) {
    int64_t number = range;
    function(number * ranks / ranges, (number + 1) * ranks / ranges);
  });
}
