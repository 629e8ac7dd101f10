//===- TransferRun.h - Times with the transfers as given --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_TRANSFERRUN_H
#define PIPEWRIGHT_LIB_SCHEDULE_TRANSFERRUN_H

#include "pipewright/Schedule/Simulator.h"

namespace pipewright {

/// Runs the actions and transfers of \p schedule as the transport of \p costs
/// carries them out: simulate with a transport.
Timeline simulateTransfers(const Schedule &schedule, const CostModel &costs,
                           bool withMessages);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_TRANSFERRUN_H
