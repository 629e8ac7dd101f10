//===- Simulator.h - How long a schedule takes ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_SIMULATOR_H
#define PIPEWRIGHT_SCHEDULE_SIMULATOR_H

#include "pipewright/Schedule/Schedule.h"

#include "llvm/Support/Error.h"

namespace pipewright {

/// Times of one micro-batch in any one unit: forward, gradient for the inputs,
/// gradient for the weights. A full backward takes b + w, a recomputation f.
struct StageCost {
  double f = 1;
  double b = 1;
  double w = 1;
};

struct CostModel {
  /// One per stage.
  std::vector<StageCost> stages;
  /// From the end of an action to its use on another rank.
  double latency = 0;
  /// The time of an overlapped pair; without it, the sum of both parts.
  std::optional<double> pair = std::nullopt;

  double getDuration(const Action &action) const;
};

/// Costs that do not depend on a schedule: what is known before there is one.
struct ShareCosts {
  /// Of a rank's whole share of a micro-batch: a stage costs share / chunks.
  StageCost share;
  /// One per stage, in place of `share`; empty: all stages are equal.
  std::vector<StageCost> stages = {};
  double latency = 0;
  /// The time of an overlapped pair of a rank's whole shares; without it, the
  /// sum of both parts.
  std::optional<double> pair = std::nullopt;
};

/// The costs of the stages of \p schedule. Refuses a list of stage costs that
/// has not one for each stage.
llvm::Expected<CostModel> makeCosts(const Schedule &schedule,
                                    const ShareCosts &costs);

/// The costs of \p schedule if every rank's whole share of a micro-batch costs
/// \p share.
CostModel makeUniformCosts(const Schedule &schedule, const StageCost &share,
                           double latency = 0,
                           std::optional<double> pair = std::nullopt);

/// When each computing action runs.
struct Timeline {
  struct Entry {
    /// Position in the rank's actions.
    int64_t action;
    double start;
    double end;
  };
  std::vector<std::vector<Entry>> ranks;
  double makespan = 0;
};

struct Metrics {
  double makespan = 0;
  /// 1 - busy time of all ranks / (ranks * makespan).
  double bubbleRatio = 0;
  /// Per rank, makespan - busy time.
  std::vector<double> idle;
  /// The longest time from the start of a rank's first action to the end of its
  /// last.
  double span = 0;
  /// The most that a rank idles in its own span. The zero-bubble papers mean
  /// spanBubble / span by bubble rate; the bubble ratio of others also counts
  /// what a rank waits before its first action and after its last.
  double spanBubble = 0;
  /// Per rank, the most micro-batches whose activations it holds at once, from
  /// F to BW or W; a stage counts 1 / chunks.
  std::vector<double> peakActivations;
  /// The same in bytes, if it is known how many each stage holds.
  std::vector<double> peakBytes;
  /// Values that cross from one rank to another in one step.
  int64_t messages = 0;
  int64_t parameterCopies = 1;

  double getSpanBubbleRatio() const { return span > 0 ? spanBubble / span : 0; }
};

/// Runs the computing actions of \p schedule, each as early as its rank's order
/// and its inputs allow; transfers run beside them. \p schedule must have no
/// violations.
Timeline simulate(const Schedule &schedule, const CostModel &costs);

Metrics measure(const Schedule &schedule, const Timeline &timeline);

/// Per rank, as in Metrics: this part depends on the order of actions only.
std::vector<double> getPeakActivations(const Schedule &schedule);

/// Per rank, the most that it holds at once if stage s holds \p sizes[s] for
/// each micro-batch, from F to BW or W.
std::vector<double> getPeaks(const Schedule &schedule,
                             llvm::ArrayRef<double> sizes);

/// Values that cross from one rank to another in one step.
int64_t countMessages(const Schedule &schedule);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_SIMULATOR_H
