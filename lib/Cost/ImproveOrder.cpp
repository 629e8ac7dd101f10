//===- ImproveOrder.cpp - Good orders of many ranks
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankCosts.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;
using namespace pipewright;

std::vector<int64_t> pipewright::orderGreedily(const RankCosts &costs,
                                               int64_t first) {
  std::vector<int64_t> order = {first}, used(costs.getGroups());
  ++used[first];
  // The heaviest pair stands for all: it says which links are fast.
  const RankPair *heaviest = nullptr;
  for (const RankPair &pair : costs.getPairs())
    if (!heaviest || pair.forth.bytes > heaviest->forth.bytes)
      heaviest = &pair;
  while (static_cast<int64_t>(order.size()) < costs.getRanks()) {
    int64_t best = -1;
    double least = std::numeric_limits<double>::infinity();
    for (int64_t group = 0; group < costs.getGroups(); ++group) {
      if (used[group] == static_cast<int64_t>(costs.getDevices(group).size()))
        continue;
      double seconds =
          costs.getComputing(group) +
          (heaviest ? costs.getSeconds(*heaviest, order.back(), group) : 0);
      if (seconds >= least)
        continue;
      least = seconds;
      best = group;
    }
    ++used[best];
    order.push_back(best);
  }
  return order;
}

namespace {
/// An order of which two ranks, or a rank and an unused device, are exchanged.
class Improver {
public:
  Improver(const RankCosts &costs, std::vector<int64_t> start)
      : costs(costs), order(std::move(start)), pairsOf(costs.getRanks()),
        free(costs.getGroups()) {
    for (const RankPair &pair : costs.getPairs()) {
      pairsOf[pair.first].push_back(&pair);
      pairsOf[pair.second].push_back(&pair);
    }
    for (int64_t group = 0; group < costs.getGroups(); ++group)
      free[group] = costs.getDevices(group).size();
    for (int64_t group : order)
      --free[group];
  }

  std::vector<int64_t> run() {
    // Each pass ends in a better order; few are needed.
    constexpr int mostPasses = 50;
    for (int pass = 0; pass < mostPasses; ++pass)
      if (!improve())
        break;
    return std::move(order);
  }

private:
  /// What a rank computes, and exchanges with others than \p except.
  double getSeconds(int64_t rank, int64_t except = -1) const {
    double seconds = costs.getComputing(order[rank]);
    for (const RankPair *pair : pairsOf[rank])
      if (pair->first != except && pair->second != except)
        seconds +=
            costs.getSeconds(*pair, order[pair->first], order[pair->second]);
    return seconds;
  }
  double getSecondsOfBoth(int64_t rank, int64_t other) const {
    return getSeconds(rank) + getSeconds(other, /*except=*/rank);
  }

  bool improve() {
    bool isBetter = false;
    for (int64_t rank = 0; rank < costs.getRanks(); ++rank) {
      for (int64_t other = rank + 1; other < costs.getRanks(); ++other)
        isBetter |= order[rank] != order[other] && tryExchange(rank, other);
      for (int64_t group = 0; group < costs.getGroups(); ++group)
        isBetter |= free[group] > 0 && tryMove(rank, group);
    }
    return isBetter;
  }

  bool tryExchange(int64_t rank, int64_t other) {
    double before = getSecondsOfBoth(rank, other);
    std::swap(order[rank], order[other]);
    if (isLess(getSecondsOfBoth(rank, other), before))
      return true;
    std::swap(order[rank], order[other]);
    return false;
  }

  bool tryMove(int64_t rank, int64_t group) {
    int64_t old = order[rank];
    double before = getSeconds(rank);
    order[rank] = group;
    if (!isLess(getSeconds(rank), before)) {
      order[rank] = old;
      return false;
    }
    --free[group];
    ++free[old];
    return true;
  }

  /// Equal sums may differ by rounding: without a margin it would go on.
  static bool isLess(double after, double before) {
    return after < before * (1 - 1e-9);
  }

  const RankCosts &costs;
  std::vector<int64_t> order;
  std::vector<SmallVector<const RankPair *, 2>> pairsOf;
  std::vector<int64_t> free;
};
} // namespace

std::vector<int64_t> pipewright::improveOrder(const RankCosts &costs,
                                              std::vector<int64_t> start) {
  return Improver(costs, std::move(start)).run();
}
