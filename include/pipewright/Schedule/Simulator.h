//===- Simulator.h - How long a schedule takes ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_SIMULATOR_H
#define PIPEWRIGHT_SCHEDULE_SIMULATOR_H

#include "pipewright/Schedule/RankLinks.h"
#include "pipewright/Schedule/Schedule.h"
#include "pipewright/Schedule/Transport.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace pipewright {

/// A part of a role, and the exchange between replicas behind it.
struct RolePart {
  double compute = 0;
  double exchange = 0;
};

/// Times of one micro-batch in any one unit: forward, gradient for the inputs,
/// gradient for the weights. A full backward takes b + w.
struct StageCost {
  double f = 1;
  double b = 1;
  double w = 1;
  /// The time of a recomputation; without it, f.
  std::optional<double> r = std::nullopt;
  /// Bytes that the stage keeps of one micro-batch until its backward.
  double activationBytes = 0;
  /// Bytes that it passes on to the next stage, and gets gradients for.
  double messageBytes = 0;
  /// Where replicas exchange rows: the parts of F, which add up to f, and of
  /// the backward, to b or, unless W is a task of its own, to b + w. Empty:
  /// one.
  std::vector<RolePart> forwardParts = {}, backwardParts = {};
  bool hasWeightTask = false;
};

/// What makes a step longer than the work of its stages.
struct MachineModel {
  /// Multiplies the times of a rank's actions; ranks that it does not list
  /// take 1.
  std::vector<double> rankFactors = {};
  /// Added to the time of every computing action, as to launch it.
  double overhead = 0;
  /// Bytes that move from one rank to another per unit of time. Each ordered
  /// pair of ranks is a link, which moves one message at a time. 0: messages
  /// take no time but the latency.
  double bandwidth = 0;
  /// The links of the ranks, in place of the bandwidth and the latency; null:
  /// all are alike.
  std::shared_ptr<const RankLinks> links = nullptr;
  /// How the sends and receives of the schedule are carried out. Without it
  /// they are not looked at: each value leaves when it is made.
  std::optional<Transport> transport = std::nullopt;
  /// Each action's time is multiplied by a factor between 1 - jitter and
  /// 1 + jitter, which depends on the seed, the rank and the action's place.
  double jitter = 0;
  uint64_t seed = 0;

  /// The factor of all actions of \p rank.
  double getRankFactor(int64_t rank) const {
    return rank < static_cast<int64_t>(rankFactors.size()) ? rankFactors[rank]
                                                           : 1;
  }
  /// The factor of an action by rank and jitter.
  double getFactor(int64_t rank, int64_t index) const {
    bool isEven = rankFactors.empty() && jitter == 0;
    return isEven ? 1 : findFactor(rank, index);
  }

private:
  double findFactor(int64_t rank, int64_t index) const;
};

struct CostModel {
  /// One per stage.
  std::vector<StageCost> stages;
  /// From the end of an action to its use on another rank. With links that
  /// differ, an estimate of it for those who look at no links.
  double latency = 0;
  /// The time of an overlapped pair; without it, the sum of both parts, but for
  /// exchanges of one during which the other one computes.
  std::optional<double> pair = std::nullopt;
  MachineModel machine = {};

  /// The time of an action without what the machine adds.
  double getDuration(const Action &action) const;
  /// The time of the action at \p index of \p rank.
  double getDuration(const Action &action, int64_t rank, int64_t index) const {
    return getDuration(action) * machine.getFactor(rank, index) +
           machine.overhead;
  }
  /// What a message from one rank to another meets.
  RankLink getLink(int64_t from, int64_t to) const {
    if (machine.links)
      return machine.links->get(from, to);
    int64_t way = (from << 32) + to;
    return {latency, machine.bandwidth, {way, way}};
  }
  /// The bytes that \p send moves.
  double getMessageBytes(const Action &send) const {
    bool isActivation = send.kind == ActionKind::SendF;
    return stages[isActivation ? send.stage : send.stage - 1].messageBytes;
  }
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
  MachineModel machine = {};
};

/// The costs of the stages of \p schedule. Refuses a list of stage costs that
/// has not one for each stage.
llvm::Expected<CostModel> makeCosts(const Schedule &schedule,
                                    const ShareCosts &costs);

/// The costs of \p schedule if every rank's whole share of a micro-batch costs
/// \p share. A message has the same size whatever the number of chunks.
CostModel makeUniformCosts(const Schedule &schedule, const StageCost &share,
                           double latency = 0,
                           std::optional<double> pair = std::nullopt);

/// When each computing action runs, and each message moves.
struct Timeline {
  struct Entry {
    /// Position in the rank's actions.
    int64_t action;
    double start;
    double end;
  };
  /// From when a message occupies its link until it is there.
  struct Message {
    /// SendF or SendB.
    Action send;
    double start;
    double end;
  };
  std::vector<std::vector<Entry>> ranks;
  double makespan = 0;
  /// Messages that take time; empty unless asked for.
  std::vector<Message> messages = {};
};

/// Makespans of one schedule with different seeds.
struct Spread {
  int64_t seeds = 0;
  /// So many percent of the makespans are at most this.
  double p50 = 0, p90 = 0, p99 = 0;
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
  /// How the makespan varies, if the actions' times do.
  std::optional<Spread> spread = std::nullopt;

  double getSpanBubbleRatio() const { return span > 0 ? spanBubble / span : 0; }
};

/// Runs the computing actions of \p schedule, each as early as its rank's order
/// and its inputs allow. Without a transport, a value leaves when it is made
/// and uses nothing but its link. With one, the schedule's own transfers are
/// run in their order: they block the rank, or follow each other on streams
/// beside it.
/// \p schedule must have no violations. Only \p withMessages lists them.
Timeline simulate(const Schedule &schedule, const CostModel &costs,
                  bool withMessages = false);

Metrics measure(const Schedule &schedule, const Timeline &timeline);

/// The makespans of \p schedule with the seeds from 0 to \p seeds - 1, of which
/// there is at least one.
Spread simulateSpread(const Schedule &schedule, CostModel costs, int64_t seeds);

/// Per rank, as in Metrics: this part depends on the order of actions only.
std::vector<double> getPeakActivations(const Schedule &schedule);

/// Per rank, the most that it holds at once if stage s holds \p sizes[s] for
/// each micro-batch, from F to BW or W.
std::vector<double> getPeaks(const Schedule &schedule,
                             llvm::ArrayRef<double> sizes);

/// Metrics::peakBytes; empty if \p costs say nothing of bytes.
std::vector<double> getPeakBytes(const Schedule &schedule,
                                 const CostModel &costs);

/// Values that cross from one rank to another in one step.
int64_t countMessages(const Schedule &schedule);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_SIMULATOR_H
