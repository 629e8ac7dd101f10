//===- SearchPlans.h - Which split and schedule is fastest ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every size of micro-batches that divides the batch, every registered schedule
// with each usual number of chunks, each policy of recomputation: all are
// simulated with the costs of the stages that they cut the model into, and the
// fastest of them then planned as a build plans them, to the byte.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_SEARCHPLANS_H
#define PIPEWRIGHT_DRIVER_SEARCHPLANS_H

#include "pipewright/Driver/Compiler.h"

#include <vector>

namespace pipewright {

/// What a search may choose, and what it must keep to.
struct PlanRequest {
  /// The options that are given: the model, ranks, global batch, device. A
  /// micro-batch size or a number of chunks that is given is kept.
  BuildOptions options;
  bool keepsSchedule = false, keepsRemat = false;
  /// How many plans are wanted.
  size_t count = 5;
};

/// A plan as a build of the same options would have it.
struct PlanCandidate {
  /// Complete: what `build` takes.
  BuildOptions options;
  /// By the costs of the stages alone, in seconds: a step, and the part of the
  /// ranks' time in which they wait.
  double stepSeconds = 0, bubbleRatio = 0;
  /// The rank that works longest, and for how long in a step.
  int64_t busiestRank = 0;
  double busiestSeconds = 0, averageSeconds = 0;
  /// Of the rank that needs most; 0 before it is planned.
  int64_t peakBytes = 0;
};

struct PlanSearch {
  /// Those that fit, the fastest first.
  std::vector<PlanCandidate> plans;
  /// The one that needs least memory of those that do not fit.
  std::optional<PlanCandidate> smallest;
  /// How many combinations were simulated, and how many of them planned.
  size_t simulated = 0, planned = 0;
  /// What the model needs on one rank with the micro-batch of the first plan.
  std::optional<PlanCandidate> single;
};

/// Fails, with diagnostics, if the model is refused or no combination can be
/// built.
mlir::FailureOr<PlanSearch> searchPlans(const PlanRequest &request,
                                        mlir::MLIRContext &context,
                                        PhaseListener listener);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_SEARCHPLANS_H
