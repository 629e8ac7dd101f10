//===- Explore.cpp - Schedules by many policies
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explore.h"

#include "Policies.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace pipewright;

namespace {
class Explorer {
public:
  Explorer(const SearchProblem &problem, const std::optional<Score> &toBeat)
      : problem(problem), best(toBeat) {}

  void exploreDeadlines();
  void explorePatterns();
  std::optional<Found> takeFound() { return std::move(found); }

private:
  /// Operations that each policy may decide on: some seconds on one core.
  static constexpr int64_t maxDecisions = 20'000'000;

  /// Capacities to try, with the one that \p problem allows; less memory is
  /// better where the time is the same, and often leads to shorter times.
  std::vector<int64_t> getCapacities(ArrayRef<double> perRank) const;

  /// Runs that can only be worse than the best so far stop early.
  double getBound() const;

  template <typename PolicyT>
  void tryOptions(PolicyT &policy, const typename PolicyT::Options &options);

  const SearchProblem &problem;
  std::optional<Score> best;
  std::optional<Found> found;
};
} // namespace

std::vector<int64_t> Explorer::getCapacities(ArrayRef<double> perRank) const {
  std::vector<int64_t> capacities;
  for (double factor : perRank) {
    double wanted = factor * problem.getRanks() * problem.getChunks();
    int64_t capacity =
        std::max<int64_t>(std::ceil(wanted), problem.getChunks());
    if (capacity < problem.getCapacity())
      capacities.push_back(capacity);
  }
  capacities.push_back(problem.getCapacity());
  capacities.erase(std::unique(capacities.begin(), capacities.end()),
                   capacities.end());
  return capacities;
}

double Explorer::getBound() const {
  return best ? best->primary * (1 + 1e-10) : HUGE_VAL;
}

template <typename PolicyT>
void Explorer::tryOptions(PolicyT &policy,
                          const typename PolicyT::Options &options) {
  if (policy.getDecisions() + problem.getSize() > maxDecisions)
    return;
  if (!policy.tryOptions(options, getBound()))
    return;
  Score score = policy.getScore();
  if (best && !(score < *best))
    return;
  best = score;
  found = {policy.getOrders(), score};
}

void Explorer::exploreDeadlines() {
  DeadlinePolicy policy(problem);
  DeadlinePolicy::Options options;
  std::vector<int64_t> capacities = getCapacities({1, 1.5, 2, 2.5, 3, 4});
  // What matters most varies slowest, so that little is lost if the work has
  // to end early.
  for (double target : {1.0, 1.005, 1.02, 0.98, 1.01, 1.04, 1.07, 0.99, 1.1})
    for (bool backwardFirst : {false, true})
      for (double lead : {1.0, 1.3, 0.6, 1e9, 0.8, 1.6, 0.4, 0.9, 1.1, 2.0})
        for (bool roundUp : {false, true})
          for (int64_t capacity : capacities) {
            options.target = target;
            options.backwardFirst = backwardFirst;
            options.lead = lead;
            options.roundUp = roundUp;
            options.capacity = capacity;
            tryOptions(policy, options);
          }
}

void Explorer::explorePatterns() {
  PatternPolicy policy(problem);
  PatternPolicy::Options options;
  static constexpr double factors[] = {1, 2, 1.5, 3};
  // One chunk has no odd ones, and one rank no steps between ranks.
  ArrayRef<double> odd = factors, all = factors;
  if (problem.getChunks() == 1)
    odd = odd.take_front();
  if (problem.getRanks() == 1)
    odd = all = all.take_front();
  for (int64_t capacity : getCapacities({0.5, 1, 2}))
    for (double gap : {0.0, 0.5})
      for (bool eager : {false, true})
        for (double forwardOdd : odd)
          for (double backwardOdd : odd)
            for (double forward : all)
              for (double backward : all) {
                options.capacity = capacity;
                options.gap = gap;
                options.eager = eager;
                options.forward = {forward, forwardOdd};
                options.backward = {backward, backwardOdd};
                tryOptions(policy, options);
              }
}

std::optional<Found> pipewright::explore(const SearchProblem &problem,
                                         const std::optional<Score> &toBeat) {
  Explorer explorer(problem, toBeat);
  explorer.exploreDeadlines();
  explorer.explorePatterns();
  return explorer.takeFound();
}
