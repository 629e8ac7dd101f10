//===- Problem.h - What a search for a schedule has to solve ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One placement of stages with their costs. A solution runs F, B and W of each
// stage in the order of micro-batches, so it only says how a rank mixes them.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_SEARCH_PROBLEM_H
#define PIPEWRIGHT_LIB_SCHEDULE_SEARCH_PROBLEM_H

#include "pipewright/Schedule/ScheduleRegistry.h"

namespace pipewright {

/// F, B or W of a stage and a micro-batch. Smaller than an Action: searches
/// hold and compare millions of them.
struct SearchOp {
  ActionKind kind;
  int32_t stage;
  int32_t microbatch;
};

/// The operations of each rank, in order.
using SearchOrders = std::vector<std::vector<SearchOp>>;

/// How good a schedule is; less is better throughout.
struct Score {
  /// What the request minimizes.
  double primary;
  /// Of the parameters.
  int64_t copies;
  /// Most activations of a rank, as in Metrics::peakActivations.
  double memory;
  /// The other of makespan and span.
  double secondary;

  /// Differences that rounding can explain do not count.
  bool operator<(const Score &other) const;
};

class SearchProblem {
public:
  /// Stages on ranks as \p placement says, with the costs and the objective of
  /// \p request, whose number of chunks must be that of \p placement.
  SearchProblem(const ScheduleRequest &request,
                const std::vector<int64_t> &placement);

  int64_t getRanks() const { return stagesOf.size(); }
  int64_t getStages() const { return rankOf.size(); }
  int64_t getChunks() const { return shape.chunks; }
  int64_t getMicrobatches() const { return shape.microbatches; }
  /// Operations of a solution.
  int64_t getSize() const { return 3 * getStages() * getMicrobatches(); }
  int64_t getRank(int64_t stage) const { return rankOf[stage]; }
  llvm::ArrayRef<int64_t> getStagesOf(int64_t rank) const {
    return stagesOf[rank];
  }
  const StageCost &getCost(int64_t stage) const { return costs[stage]; }
  double getDuration(const SearchOp &op) const;
  /// From the end of an operation to its use, on stage \p from or \p to.
  double getHop(int64_t from, int64_t to) const {
    return rankOf[from] == rankOf[to] ? 0 : latency;
  }
  double getLatency() const { return latency; }
  /// The part of a rank's end that does not count: its start, if spans count.
  double getOffset(int64_t rank) const { return offsets[rank]; }
  /// Most activations of stages that a rank may hold.
  int64_t getCapacity() const { return capacity; }

  /// The time that must still pass from the end of an operation, as far as its
  /// rank's remaining work and the way to other ranks tell, less the offset of
  /// the rank that ends last.
  double getTail(ActionKind kind, int64_t stage, int64_t microbatch) const;
  /// No solution has a smaller primary score.
  double getLowerBound() const { return lowerBound; }

  Score makeScore(double makespan, double span, int64_t held) const {
    double memory = static_cast<double>(held) / shape.chunks;
    if (objective == Objective::Span)
      return {span, /*copies=*/1, memory, makespan};
    return {makespan, /*copies=*/1, memory, span};
  }

  /// The schedule with the operations of \p orders.
  Schedule makeSchedule(const SearchOrders &orders) const;

private:
  void findOffsets();
  void findTails();

  ScheduleShape shape;
  Objective objective;
  std::vector<int64_t> rankOf;
  std::vector<std::vector<int64_t>> stagesOf;
  std::vector<StageCost> costs;
  double latency;
  int64_t capacity;
  /// Per rank.
  std::vector<double> offsets;
  /// Per stage and micro-batch.
  std::vector<double> tailF, tailB;
  double lowerBound = 0;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_SEARCH_PROBLEM_H
