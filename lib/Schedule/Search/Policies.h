//===- Policies.h - What a rank runs next -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_SEARCH_POLICIES_H
#define PIPEWRIGHT_LIB_SCHEDULE_SEARCH_POLICIES_H

#include "Dispatch.h"

namespace pipewright {

/// Of what can run, takes what has to start first if the target is to be
/// reached; rather waits for something more urgent that is known to arrive than
/// delay it. How many forwards of a stage may be ahead of its backwards is
/// limited, which sets the length of the warm-up.
class DeadlinePolicy : public Dispatcher {
public:
  struct Options {
    /// The target, as a multiple of the lower bound.
    double target = 1;
    /// The limit of forwards ahead: so many fit between F and B of the first
    /// micro-batch, times this.
    double lead = 1;
    bool roundUp = false;
    /// B always goes before F.
    bool backwardFirst = false;
    /// Most activations of stages on a rank.
    int64_t capacity = 0;
  };

  using Dispatcher::Dispatcher;
  explicit DeadlinePolicy(const SearchProblem &problem) : Dispatcher(problem) {}

  bool tryOptions(const Options &newOptions, double bound);

private:
  struct Choice {
    ActionKind kind = ActionKind::F;
    int64_t stage = -1;
    double latestStart = never;
  };

  void findLeads();
  Decision decide(int64_t rank, double now) override;
  /// Looks at the next F or B of \p stage: it becomes the choice, or one of
  /// those to come.
  void consider(ActionKind kind, int64_t stage, double now);
  /// True if F of the rank's chunk number \p chunk leaves enough memory for the
  /// later chunks of a micro-batch under way.
  bool hasRoom(int64_t rank, int64_t chunk) const;
  /// What has to wait for until it arrives, if running something of
  /// \p duration now would make it late; `never` if nothing.
  double findMoreUrgent(double now, double duration) const;

  Options options;
  std::vector<int64_t> leads;
  /// Of the current decision.
  Choice choice;
  /// Starts and latest starts of what is known to arrive later.
  llvm::SmallVector<std::pair<double, double>, 8> coming;
};

/// F and B run in an order that repeats with each micro-batch; W fills the time
/// in which the next of them has not arrived, or makes room for it.
class PatternPolicy : public Dispatcher {
public:
  /// How long a micro-batch takes from one rank to the next, as a multiple of
  /// the time of a stage: the shape of the repeated block. Even and odd chunks
  /// differ, since waves pass over the ranks in turns.
  struct Options {
    std::array<double, 2> forward = {1, 1};
    std::array<double, 2> backward = {1, 1};
    /// Between F and B of the last stage, in periods.
    double gap = 0;
    /// W also starts where it delays what arrives meanwhile.
    bool eager = false;
    /// Most activations of stages on a rank.
    int64_t capacity = 0;
  };

  explicit PatternPolicy(const SearchProblem &problem) : Dispatcher(problem) {}

  bool tryOptions(const Options &newOptions, double bound);

private:
  void layOut();
  void start() override;
  Decision decide(int64_t rank, double now) override;
  void hasRun(int64_t rank) override;
  /// The next F or B of the pattern; a later B if there is no room for F.
  /// Nothing at the end.
  const SearchOp *findNext(int64_t rank, bool canFree);

  Options options;
  /// F and B of each rank in the order of the pattern.
  SearchOrders pattern;
  /// The same for the current run, and how many of them have run.
  SearchOrders remaining;
  std::vector<size_t> positions;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_SEARCH_POLICIES_H
