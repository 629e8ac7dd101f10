//===- MessageRules.h - Rules on the ranks side by side ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_MESSAGERULES_H
#define PIPEWRIGHT_SCHEDULE_MESSAGERULES_H

#include "pipewright/Schedule/Checker.h"

namespace pipewright {

/// S4 and S5 of a schedule with transfers that keeps S1 to S3: each queue of
/// messages has one order, and no rank waits for ever.
std::vector<Violation> checkMessages(const Schedule &schedule,
                                     const CheckOptions &options);

/// S5 of a schedule without transfers that keeps S1 to S3: no rank waits for a
/// value for ever.
std::vector<Violation> checkOrdersAgree(const Schedule &schedule);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_MESSAGERULES_H
