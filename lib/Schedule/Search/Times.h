//===- Times.h - When the operations of a solution run ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What simulate() says of a schedule, without building one: a search by small
// changes asks thousands of times.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_SEARCH_TIMES_H
#define PIPEWRIGHT_LIB_SCHEDULE_SEARCH_TIMES_H

#include "Problem.h"

namespace pipewright {

class SearchTimes {
public:
  /// A place in the orders.
  struct Place {
    int64_t rank;
    int64_t position;
  };

  explicit SearchTimes(const SearchProblem &problem);

  /// Runs each operation as early as its rank's order and its input allow.
  /// Returns false if the ranks wait for each other for ever.
  bool compute(const SearchOrders &orders);

  /// The rest is of the last call of compute, which returned true.
  double getPrimary() const;
  /// The mean over the ranks of what the primary score is the largest of.
  double getMean() const;
  Score getScore(int64_t held) const;

  /// The operations of a rank that ends last which each start at the end of
  /// the one before, and those of other ranks which the first of them waits
  /// for, and so on to the start: only a change here can help. Leaves out the
  /// first operation of each such block.
  std::vector<Place> findCriticalPlaces(const SearchOrders &orders) const;

private:
  /// Where the value that \p op needs is made; nothing for F of stage 0.
  const Place *findInput(const SearchOp &op) const;
  double getArrival(const SearchOp &op) const;
  bool runRank(int64_t rank, const std::vector<SearchOp> &order);
  double getEnd(int64_t rank) const;

  const SearchProblem &problem;
  std::vector<std::vector<double>> starts, ends;
  /// Per stage and micro-batch, of F and B: where they are; a rank of -1 before
  /// they have run.
  std::array<std::vector<Place>, 2> places;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_SEARCH_TIMES_H
