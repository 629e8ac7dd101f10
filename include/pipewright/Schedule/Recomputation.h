//===- Recomputation.h - Schedules that recompute ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_RECOMPUTATION_H
#define PIPEWRIGHT_SCHEDULE_RECOMPUTATION_H

#include "pipewright/Schedule/Schedule.h"

namespace pipewright {

/// \p schedule with an R right before each B or BW, or before the pair that
/// holds it. R needs no gradient, so it runs while the rank waits for the one
/// that the backward needs.
Schedule addRecomputation(const Schedule &schedule);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_RECOMPUTATION_H
