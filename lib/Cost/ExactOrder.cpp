//===- ExactOrder.cpp - The best order of ranks that are neighbours
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Held and Karp's dynamic program. Ranks take devices one after the other; all
// that matters for the rest is how many devices of each group are in use, the
// group of the last rank and, in a ring, that of the first.
//
//===----------------------------------------------------------------------===//

#include "RankCosts.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;
using namespace pipewright;

/// Steps of the program that take part of a second.
static constexpr double mostWork = 1e8;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
class ExactOrder {
public:
  explicit ExactOrder(const RankCosts &costs) : costs(costs) {}

  std::optional<std::vector<int64_t>> run();

private:
  bool readPairs();
  bool countStates();
  void runFrom(int64_t first);
  void extend(int64_t state, int64_t placed);
  void finish(int64_t state, int64_t first);
  std::vector<int64_t> trace(int64_t state, int64_t last) const;

  int64_t countUsed(int64_t state, int64_t group) const {
    return state / strides[group] %
           (int64_t(costs.getDevices(group).size()) + 1);
  }
  int64_t countUsed(int64_t state) const {
    int64_t used = 0;
    for (int64_t group = 0; group < costs.getGroups(); ++group)
      used += countUsed(state, group);
    return used;
  }
  bool hasFree(int64_t state, int64_t group) const {
    return countUsed(state, group) < int64_t(costs.getDevices(group).size());
  }

  const RankCosts &costs;
  /// By their first rank, the pairs of neighbours; what joins the last rank to
  /// the first in a ring.
  std::vector<const RankPair *> steps;
  const RankPair *closing = nullptr;
  /// A state is the sum of stride times devices in use, over the groups.
  std::vector<int64_t> strides;
  int64_t states = 1;
  /// By state and last group: the least cost, and the group before the last.
  std::vector<double> least;
  std::vector<int16_t> before;
  double best = infinity;
  std::vector<int64_t> order;
};
} // namespace

/// Whether all pairs are neighbours.
bool ExactOrder::readPairs() {
  steps.assign(costs.getRanks(), nullptr);
  for (const RankPair &pair : costs.getPairs()) {
    if (pair.second == pair.first + 1)
      steps[pair.first] = &pair;
    else if (pair.first == 0 && pair.second == costs.getRanks() - 1)
      closing = &pair;
    else
      return false;
  }
  return true;
}

/// Whether there are few enough states.
bool ExactOrder::countStates() {
  double groups = costs.getGroups();
  double work = groups * groups * (closing ? groups : 1);
  for (int64_t group = 0; group < costs.getGroups(); ++group) {
    strides.push_back(states);
    double size = costs.getDevices(group).size() + 1;
    if ((work *= size) > mostWork)
      return false;
    states *= static_cast<int64_t>(size);
  }
  return true;
}

void ExactOrder::extend(int64_t state, int64_t placed) {
  int64_t groups = costs.getGroups();
  const RankPair *step = steps[placed - 1];
  for (int64_t last = 0; last < groups; ++last) {
    double known = least[state * groups + last];
    if (known == infinity)
      continue;
    for (int64_t next = 0; next < groups; ++next) {
      if (!hasFree(state, next))
        continue;
      double total = known + costs.getComputing(next) +
                     (step ? costs.getSeconds(*step, last, next) : 0);
      int64_t entry = (state + strides[next]) * groups + next;
      if (total >= least[entry])
        continue;
      least[entry] = total;
      before[entry] = static_cast<int16_t>(last);
    }
  }
}

/// Takes note of the best of the orders that end in \p state, if it is the best
/// so far.
void ExactOrder::finish(int64_t state, int64_t first) {
  for (int64_t last = 0; last < costs.getGroups(); ++last) {
    double total = least[state * costs.getGroups() + last];
    if (total == infinity)
      continue;
    if (closing)
      total += costs.getSeconds(*closing, first, last);
    if (total > best)
      continue;
    std::vector<int64_t> found = trace(state, last);
    // Of equal ones, that of the first devices.
    if (total < best || found < order)
      order = std::move(found);
    best = total;
  }
}

std::vector<int64_t> ExactOrder::trace(int64_t state, int64_t last) const {
  std::vector<int64_t> groups(costs.getRanks());
  for (int64_t &group : reverse(groups)) {
    group = last;
    last = before[state * costs.getGroups() + group];
    state -= strides[group];
  }
  return groups;
}

/// All orders that begin in the group \p first, or in any if that is -1.
void ExactOrder::runFrom(int64_t first) {
  int64_t groups = costs.getGroups();
  least.assign(states * groups, infinity);
  before.assign(states * groups, 0);
  for (int64_t group = 0; group < groups; ++group)
    if (first < 0 || first == group)
      least[strides[group] * groups + group] = costs.getComputing(group);
  // One more device in use is a higher number.
  for (int64_t state = 1; state < states; ++state) {
    int64_t placed = countUsed(state);
    if (placed < costs.getRanks())
      extend(state, placed);
    if (placed == costs.getRanks())
      finish(state, first);
  }
}

std::optional<std::vector<int64_t>> ExactOrder::run() {
  if (!readPairs() || !countStates())
    return std::nullopt;
  if (!closing)
    runFrom(-1);
  for (int64_t first = 0; closing && first < costs.getGroups(); ++first)
    runFrom(first);
  return order;
}

std::optional<std::vector<int64_t>>
pipewright::orderExactly(const RankCosts &costs) {
  return ExactOrder(costs).run();
}
