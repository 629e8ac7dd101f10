//===- ScorePlan.h - How good a shape is, quickly ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DRIVER_SCOREPLAN_H
#define PIPEWRIGHT_LIB_DRIVER_SCOREPLAN_H

#include "PlanShapes.h"

#include "pipewright/Plan/CutSearch.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace pipewright {

struct PlanScore {
  double stepSeconds = 0;
  /// As of JudgedCut.
  int64_t excessBytes = 0, peakBytes = 0;
};

/// The problem to cut a model for a schedule.
using ProblemMaker =
    llvm::function_ref<llvm::Expected<CutSearchProblem>(const Schedule &)>;

/// The step of the first cut for the schedule of \p shape. Where there are many
/// more micro-batches than ranks, two shorter steps are simulated, and the rest
/// goes on as between these: a schedule repeats itself once the pipeline is
/// full. One that holds more of more micro-batches is simulated as a whole.
/// Fails if there is no such schedule, or no such cut.
llvm::Expected<PlanScore> scorePlan(const PlanShape &shape,
                                    ProblemMaker makeProblem);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_DRIVER_SCOREPLAN_H
