//===- ScheduleOutput.h - A schedule in any format --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_SCHEDULEOUTPUT_H
#define PIPEWRIGHT_TOOLS_SCHEDULEOUTPUT_H

#include "pipewright/Schedule/Simulator.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace pipewright {

enum class ScheduleFormat { Table, Json, Csv, Svg, Trace, Mlir };

/// The values of --format.
llvm::cl::ValuesClass getScheduleFormats();

/// Writes \p schedule, which must be valid, as it runs with \p costs; fails if
/// \p format cannot express it.
llvm::Error writeSchedule(const Schedule &schedule, const Timeline &timeline,
                          const Metrics &metrics, ScheduleFormat format,
                          llvm::raw_ostream &os);

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_SCHEDULEOUTPUT_H
