//===- Search.h - The best schedule for given costs -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_SEARCH_H
#define PIPEWRIGHT_SCHEDULE_SEARCH_H

#include "pipewright/Schedule/ScheduleRegistry.h"

namespace pipewright {

/// The best schedule for \p request that holds no more activations and copies
/// of the parameters than it allows: least by the objective, then by
/// copies, by activations, and by the other of makespan and span.
///
/// It is never worse than a registered schedule, which it considers all, and
/// may be one of its own, which run B and W apart. With chunks of 0 it
/// considers the numbers of chunks that registered schedules usually have. The
/// same request always gives the same schedule.
///
/// Refuses a limit below the activations of one micro-batch, which every
/// schedule holds, and stage costs or a placement for a number of stages that
/// the ranks cannot share.
llvm::Expected<Schedule> searchSchedule(const ScheduleRequest &request);

/// The best of the registered schedules alone, by the same measures and with
/// the same refusals. It takes no search, so it is fast.
llvm::Expected<Schedule> chooseRegistered(const ScheduleRequest &request);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_SEARCH_H
