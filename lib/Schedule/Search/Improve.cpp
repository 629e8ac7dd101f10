//===- Improve.cpp - Better schedules by small changes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Improve.h"

#include "Times.h"

#include <algorithm>
#include <random>

using namespace llvm;
using namespace pipewright;

namespace {
/// Threshold accepting: changes may make the solution worse by less and less.
class Improver {
public:
  Improver(const SearchProblem &problem, const SearchOrders &start)
      : problem(problem), times(problem), orders(start), best(start) {}

  SearchOrders run();

private:
  /// Changes to try: so many for each operation, within some seconds on one
  /// core.
  static constexpr int64_t stepsPerOperation = 25;
  static constexpr int64_t maxTimings = 100'000'000;

  struct Move {
    int64_t rank, from, to;
  };

  Move chooseMove();
  /// True if \p move keeps the order within a stage and the memory limit.
  bool isAllowed(const Move &move) const;
  void apply(const Move &move);
  int64_t findPeak(ArrayRef<SearchOp> order) const;
  int64_t findPeak() const;
  /// What is compared: the primary score and, to see progress where several
  /// ranks end last, the mean over the ranks.
  double getEnergy() const { return times.getPrimary() + times.getMean(); }
  int64_t pick(int64_t count) { return random() % count; }

  const SearchProblem &problem;
  SearchTimes times;
  SearchOrders orders;
  SearchOrders best;
  std::vector<SearchTimes::Place> critical;
  /// Seeded with a constant, and used without the standard distributions, which
  /// differ between libraries: every machine finds the same.
  std::mt19937_64 random{1};
};
} // namespace

/// An operation on the critical path goes ahead of others, or the one before it
/// goes after them.
Improver::Move Improver::chooseMove() {
  static constexpr int64_t farthest = 24;
  SearchTimes::Place place = critical[pick(critical.size())];
  int64_t size = orders[place.rank].size();
  int64_t distance = 1 + pick(1 + pick(farthest));
  if (pick(2) == 0)
    return {place.rank, place.position,
            std::max<int64_t>(0, place.position - distance)};
  return {place.rank, place.position - 1,
          std::min(size - 1, place.position - 1 + distance)};
}

/// Whether \p first has to come before \p second on the same rank.
static bool mustPrecede(const SearchOp &first, const SearchOp &second) {
  if (first.stage == second.stage)
    return first.kind == second.kind || first.microbatch == second.microbatch;
  // Along the pipeline and back.
  if (first.microbatch != second.microbatch)
    return false;
  if (first.kind == ActionKind::F)
    return second.kind != ActionKind::F || first.stage < second.stage;
  return first.kind == ActionKind::B && second.kind != ActionKind::F &&
         first.stage > second.stage;
}

bool Improver::isAllowed(const Move &move) const {
  if (move.from == move.to)
    return false;
  const std::vector<SearchOp> &order = orders[move.rank];
  const SearchOp &op = order[move.from];
  if (move.to < move.from) {
    for (int64_t position = move.to; position < move.from; ++position)
      if (mustPrecede(order[position], op))
        return false;
    return true;
  }
  for (int64_t position = move.from + 1; position <= move.to; ++position)
    if (mustPrecede(op, order[position]))
      return false;
  return true;
}

void Improver::apply(const Move &move) {
  auto begin = orders[move.rank].begin();
  auto from = begin + move.from, to = begin + move.to;
  if (from < to)
    std::rotate(from, from + 1, to + 1);
  else
    std::rotate(to, from, from + 1);
}

int64_t Improver::findPeak(ArrayRef<SearchOp> order) const {
  int64_t held = 0, peak = 0;
  for (const SearchOp &op : order) {
    held += op.kind == ActionKind::F;
    held -= op.kind == ActionKind::W;
    peak = std::max(peak, held);
  }
  return peak;
}

int64_t Improver::findPeak() const {
  int64_t peak = 0;
  for (const std::vector<SearchOp> &order : orders)
    peak = std::max(peak, findPeak(order));
  return peak;
}

SearchOrders Improver::run() {
  if (!times.compute(orders))
    return std::move(best);
  Score bestScore = times.getScore(findPeak());
  double energy = getEnergy();
  critical = times.findCriticalPlaces(orders);
  double bound = problem.getLowerBound() * (1 + 1e-11);
  int64_t size = problem.getSize();
  int64_t steps = std::min(stepsPerOperation * size, maxTimings / size);
  for (int64_t step = 0; step < steps && !critical.empty(); ++step) {
    if (bestScore.primary <= bound)
      break;
    Move move = chooseMove();
    if (!isAllowed(move))
      continue;
    apply(move);
    double worst = energy + 0.002 * bound * (steps - step) / steps;
    bool isKept = findPeak(orders[move.rank]) <= problem.getCapacity() &&
                  times.compute(orders) && getEnergy() <= worst;
    if (!isKept) {
      apply({move.rank, move.to, move.from});
      continue;
    }
    energy = getEnergy();
    critical = times.findCriticalPlaces(orders);
    Score score = times.getScore(findPeak());
    if (!(score < bestScore))
      continue;
    bestScore = score;
    best = orders;
  }
  return std::move(best);
}

SearchOrders pipewright::improve(const SearchProblem &problem,
                                 const SearchOrders &start) {
  return Improver(problem, start).run();
}
