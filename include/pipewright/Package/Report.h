//===- Report.h - report.html: the plan as people look at it -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PACKAGE_REPORT_H
#define PIPEWRIGHT_PACKAGE_REPORT_H

#include "pipewright/Package/PlanSummary.h"
#include "pipewright/Package/PredictedStep.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace pipewright {

/// One HTML page that needs nothing but itself: timeline, balance, memory.
std::string makeReport(const PlanSummary &plan, const PredictedStep &step);

/// The balance and memory tables for a terminal.
void printPlan(const PlanSummary &plan, const PredictedStep &step,
               llvm::raw_ostream &stream);

} // namespace pipewright

#endif // PIPEWRIGHT_PACKAGE_REPORT_H
