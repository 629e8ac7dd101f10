//===- Recomputation.h - Schedules that recompute ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_RECOMPUTATION_H
#define PIPEWRIGHT_SCHEDULE_RECOMPUTATION_H

#include "pipewright/Schedule/Schedule.h"

#include <vector>

namespace pipewright {

/// \p schedule with an R right before each B or BW, or before the pair that
/// holds it. R needs no gradient, so it runs while the rank waits for the one
/// that the backward needs. With \p stages, one flag each, only the stages that
/// it marks recompute.
Schedule addRecomputation(const Schedule &schedule,
                          const std::vector<bool> &stages = {});

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_RECOMPUTATION_H
