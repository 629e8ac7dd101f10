//===- Improve.h - Better schedules by small changes ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_SEARCH_IMPROVE_H
#define PIPEWRIGHT_LIB_SCHEDULE_SEARCH_IMPROVE_H

#include "Problem.h"

namespace pipewright {

/// Moves one operation after another within its rank, where that may shorten
/// what ends last, as far as a fixed amount of work goes. Returns the best
/// solution on the way, which is \p start if none was better.
SearchOrders improve(const SearchProblem &problem, const SearchOrders &start);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_SEARCH_IMPROVE_H
