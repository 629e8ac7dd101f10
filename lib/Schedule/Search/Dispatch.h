//===- Dispatch.h - Schedules made by deciding step by step -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// List scheduling: time moves on, and whenever a rank is free a policy decides
// what it runs next, from what has arrived and what is known to come.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_SEARCH_DISPATCH_H
#define PIPEWRIGHT_LIB_SCHEDULE_SEARCH_DISPATCH_H

#include "Problem.h"

#include <limits>
#include <queue>

namespace pipewright {

class Dispatcher {
public:
  virtual ~Dispatcher() = default;

  /// Returns false if the ranks cannot go on, which happens where memory is
  /// short. Operations after which the primary score must be worse than
  /// \p bound are not tried.
  bool run(double bound);

  /// What all runs together decided on: a measure of work done.
  int64_t getDecisions() const { return decisions; }
  /// Of the last run that came to its end.
  const SearchOrders &getOrders() const { return orders; }
  Score getScore() const;

protected:
  static constexpr double never = std::numeric_limits<double>::infinity();

  explicit Dispatcher(const SearchProblem &problem) : problem(problem) {}

  /// The next thing that a rank does: an operation now, or nothing before
  /// `wake`, unless something arrives earlier.
  struct Decision {
    bool runs = false;
    ActionKind kind = ActionKind::F;
    int64_t stage = 0;
    double wake = never;
  };
  static Decision runNow(ActionKind kind, int64_t stage) {
    return {true, kind, stage};
  }
  static Decision waitUntil(double time) {
    Decision decision;
    decision.wake = time;
    return decision;
  }

  /// Prepares for a new run.
  virtual void start() {}
  virtual Decision decide(int64_t rank, double now) = 0;
  /// Called after an operation of \p rank was added to its order.
  virtual void hasRun(int64_t rank) {}

  /// When the input of the next F or B of \p stage is on its rank; `never` if
  /// that is not known yet or there is no next one.
  double getArrival(ActionKind kind, int64_t stage) const;
  /// The next W of the rank by the latest start; -1 if none can run.
  int64_t findNextW(int64_t rank) const;
  int64_t getCount(ActionKind kind, int64_t stage) const {
    return counts[static_cast<size_t>(kind)][stage];
  }
  int64_t getHeld(int64_t rank) const { return held[rank]; }
  /// The latest start of the next operation of \p stage if the schedule is to
  /// reach `target`.
  double getLatestStart(ActionKind kind, int64_t stage) const;

  const SearchProblem &problem;
  /// The primary score that decisions aim at.
  double target = 0;

private:
  void reset();
  void commit(int64_t rank, double now, ActionKind kind, int64_t stage);
  void deliver(ActionKind kind, int64_t from, int64_t to, int64_t microbatch,
               double end);
  void wakeUp(int64_t rank, double time);

  using Event = std::pair<double, int64_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  /// Per rank, the time of its event that counts.
  std::vector<double> wakes;
  std::vector<double> freeAt, firstStart;
  std::vector<int64_t> held;
  int64_t peak = 0;
  int64_t decisions = 0;
  /// F, B and W that have run, per stage.
  std::array<std::vector<int64_t>, 3> counts;
  /// Per stage and micro-batch: when the inputs of F and B arrive.
  std::array<std::vector<double>, 2> arrivals;
  SearchOrders orders;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_SEARCH_DISPATCH_H
