//===- PlanReport.h - What a search for plans found -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_PIPEWRIGHT_PLANREPORT_H
#define PIPEWRIGHT_TOOLS_PIPEWRIGHT_PLANREPORT_H

#include "pipewright/Driver/SearchPlans.h"

namespace pipewright {

/// The table of plans, of which there is at least one, and advice. \p explains:
/// also where the time of the first one goes.
void printPlans(const PlanSearch &search, const BuildOptions &options,
                bool explains);

void printPlansAsJson(const PlanSearch &search, const BuildOptions &options);

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_PIPEWRIGHT_PLANREPORT_H
