//===- Explore.h - Schedules by many policies -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_SEARCH_EXPLORE_H
#define PIPEWRIGHT_LIB_SCHEDULE_SEARCH_EXPLORE_H

#include "Problem.h"

namespace pipewright {

struct Found {
  SearchOrders orders;
  Score score;
};

/// Schedules \p problem by each policy with a grid of options, as far as a
/// fixed amount of work goes. Returns the best solution unless \p toBeat is at
/// least as good.
std::optional<Found> explore(const SearchProblem &problem,
                             const std::optional<Score> &toBeat);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_SEARCH_EXPLORE_H
