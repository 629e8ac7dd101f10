//===- CutSearch.h - The cut that a schedule runs fastest -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cut with the fastest slowest stage is where a search begins, and often
// not the fastest: a step also fills and drains the pipeline, and stages that
// hold more micro-batches may have to be shorter. Each cut is judged by
// simulating the schedule. Includes no MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PLAN_CUTSEARCH_H
#define PIPEWRIGHT_PLAN_CUTSEARCH_H

#include "pipewright/Plan/Cut.h"
#include "pipewright/Schedule/Simulator.h"

namespace pipewright {

struct CutSearchProblem {
  llvm::ArrayRef<PlanLayer> layers;
  /// Without recomputation, which is added where it is chosen.
  const Schedule *schedule = nullptr;
  RematSet remats;
  /// Bytes that a rank may hold.
  int64_t memory = std::numeric_limits<int64_t>::max();
  /// Latency in seconds, and the machine, whose bandwidth is in bytes per
  /// second. The rest is the search's.
  CostModel costs;
  /// A rank's update takes so long for each of its parameterBytes, so much less
  /// for each of its shardBytes, and so long in any case; a step ends with the
  /// slowest.
  double updateSecondsPerByte = 0, shardGainPerByte = 0, updateLatency = 0;
  /// Simulated actions that the search may spend. The first cut is judged
  /// whatever it takes.
  int64_t budget = 20'000'000;
};

/// A cut with a policy for each layer, as simulated.
struct JudgedCut {
  std::vector<size_t> begins;
  std::vector<Remat> remats;
  /// Seconds: of the whole step, and of that its update.
  double stepSeconds = 0, updateSeconds = 0;
  /// Bytes that each rank holds at most.
  std::vector<int64_t> peakBytes;
  /// Bytes by which ranks exceed the memory, summed; 0: all fit.
  int64_t excessBytes = 0;
  /// Of the stages, in seconds.
  CostModel costs;

  int64_t getPeakBytes() const;
  bool isBetterThan(const JudgedCut &other) const;
};

/// Judges the cut at \p begins: with the least recomputation that fits or, if
/// none does, the one that holds least.
JudgedCut judgeCut(const CutSearchProblem &problem, std::vector<size_t> begins);

/// The slowest stage as fast as it can be for what the schedule holds; where
/// nothing fits, as if all did. Nothing if there are more stages than layers.
std::optional<JudgedCut> findFirstCut(const CutSearchProblem &problem);

/// The best cut found: of all if the budget allows, and else by moving borders,
/// one or several neighbours at a time, from the first cut for as long as that
/// helps. Never worse than findFirstCut, and the same for the same problem.
std::optional<JudgedCut> searchCut(const CutSearchProblem &problem);

} // namespace pipewright

#endif // PIPEWRIGHT_PLAN_CUTSEARCH_H
