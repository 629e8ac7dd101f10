//===- StepLosses.h - Where the time of a step goes -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What keeps a step from taking no more than the work of all ranks, evenly
// spread: found by simulating the same schedule without one hindrance after the
// other, so that the parts add up exactly. Includes no MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PLAN_STEPLOSSES_H
#define PIPEWRIGHT_PLAN_STEPLOSSES_H

#include "pipewright/Plan/CutSearch.h"

namespace pipewright {

/// Seconds of one step; negative where a hindrance happens to help.
struct StepLosses {
  /// F, B and W of all stages over the ranks.
  double work = 0;
  /// Messages that are waited for.
  double links = 0;
  double recompute = 0;
  /// Stages, or ranks, that are not equally fast.
  double imbalance = 0;
  /// What is left with equal stages, free links and nothing recomputed: the
  /// pipeline fills and drains.
  double fillAndDrain = 0;
  double update = 0;

  double getTotal() const {
    return work + links + recompute + imbalance + fillAndDrain + update;
  }
};

/// The losses of \p cut with \p schedule, which recomputes nothing itself.
StepLosses findLosses(const Schedule &schedule, const JudgedCut &cut);

/// How long \p stage takes for a micro-batch, all its roles together, on its
/// rank.
double getStageTime(const Schedule &schedule, const CostModel &costs,
                    int64_t stage);

/// The part of a step, without its update, in which ranks wait.
double getBubbleRatio(const Schedule &schedule, const JudgedCut &cut);

/// \p costs with messages that take no time.
CostModel freeLinks(CostModel costs);

/// \p costs with links that take a part of their time.
CostModel speedUpLinks(CostModel costs, double factor);

/// How long a step takes without its update; stages that take time to recompute
/// do so.
double simulateCut(const Schedule &schedule, const CostModel &costs);

} // namespace pipewright

#endif // PIPEWRIGHT_PLAN_STEPLOSSES_H
