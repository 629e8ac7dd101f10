//===- ParallelRanks.h - Work on ranks that are independent -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_PARALLELRANKS_H
#define PIPEWRIGHT_LIB_SCHEDULE_PARALLELRANKS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>

namespace pipewright {

class Schedule;

/// Calls \p function with ranges of ranks, from the first to before the second,
/// that together are those of \p schedule. Large schedules use all cores:
/// whatever \p function writes must belong to one rank, and then the number of
/// threads changes nothing. Small schedules start no thread, and neither does
/// anything where \p inParallel is false.
void forEachRange(const Schedule &schedule, bool inParallel,
                  llvm::function_ref<void(int64_t, int64_t)> function);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_PARALLELRANKS_H
