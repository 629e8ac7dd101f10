//===- DualPipeSteps.h - The steps of dualpipe and dualpipev ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_DUALPIPESTEPS_H
#define PIPEWRIGHT_SCHEDULE_DUALPIPESTEPS_H

#include "pipewright/Schedule/Orders.h"

namespace pipewright {

/// Where one rank stands between two streams of micro-batches that meet in the
/// middle.
struct DualPipeRank {
  /// The stage of the stream that enters near the rank, and of the one that
  /// enters far from it.
  StageLane near, far;
  /// Ranks from where a stream enters to the middle.
  int64_t depth;
  /// Ranks between where the near stream enters and this one.
  int64_t position;
};

/// Adds the eight steps of DualPipe (github.com/deepseek-ai/DualPipe): fill
/// with the near stream, then with both; overlap each forward of one with a
/// backward of the other; drain both, with the gradients for the weights last.
void addDualPipeSteps(Schedule &schedule, int64_t rank, DualPipeRank steps);

/// Refuses fewer than two micro-batches per rank: the streams would not meet.
llvm::Error checkDualPipeMicrobatches(const ScheduleShape &shape);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_DUALPIPESTEPS_H
