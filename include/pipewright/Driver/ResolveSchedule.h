//===- ResolveSchedule.h - What the schedule asks of a build ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_RESOLVESCHEDULE_H
#define PIPEWRIGHT_DRIVER_RESOLVESCHEDULE_H

#include "pipewright/Driver/BuildOptions.h"

#include "llvm/Support/Error.h"

namespace pipewright {

/// Makes the schedule that \p options ask for, by name or from a file, and
/// completes the options by it: ranks, micro-batches and chunks that were not
/// given, and `needs`. Refuses a schedule that does not exist, has other
/// numbers than those given, or does not pass the checker.
///
/// An inference pipeline has one direction and its stages in loops, whatever
/// the schedule.
llvm::Error resolveSchedule(BuildOptions &options);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_RESOLVESCHEDULE_H
