//===- ScheduleOutput.cpp - A schedule in any format
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleOutput.h"

#include "pipewright/Program/Passes.h"
#include "pipewright/Schedule/Formats.h"
#include "pipewright/Schedule/ProgramSchedule.h"

#include "mlir/Pass/PassManager.h"

using namespace llvm;
using namespace pipewright;

cl::ValuesClass pipewright::getScheduleFormats() {
  return cl::values(
      clEnumValN(ScheduleFormat::Table, "table", "timeline and metrics"),
      clEnumValN(ScheduleFormat::Json, "json", "actions and metrics"),
      clEnumValN(ScheduleFormat::Csv, "csv", "PyTorch's pipelining format"),
      clEnumValN(ScheduleFormat::Svg, "svg", "a picture of the timeline"),
      clEnumValN(ScheduleFormat::Trace, "trace", "Chrome's trace format"),
      clEnumValN(ScheduleFormat::Mlir, "mlir",
                 "rank programs on stages without a model"));
}

/// Programs with their messages in an order that cannot deadlock.
static Error writeMlir(const Schedule &schedule, raw_ostream &os) {
  mlir::MLIRContext context;
  std::string reason;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          if (reason.empty())
                                            reason = diagnostic.str();
                                          return mlir::success();
                                        });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      buildSkeletonModule(schedule, &context);
  mlir::PassManager passes(&context);
  passes.addPass(createOrderMessages());
  if (!module || mlir::failed(passes.run(*module)))
    return createStringError("schedule '" + schedule.getName() +
                             "' cannot be written as programs: " + reason);
  module->print(os);
  return Error::success();
}

Error pipewright::writeSchedule(const Schedule &schedule,
                                const Timeline &timeline,
                                const Metrics &metrics, ScheduleFormat format,
                                raw_ostream &os) {
  switch (format) {
  case ScheduleFormat::Table:
    writeTable(schedule, timeline, metrics, os);
    return Error::success();
  case ScheduleFormat::Json:
    writeJson(schedule, metrics, os);
    return Error::success();
  case ScheduleFormat::Csv:
    return writeCsv(schedule, os);
  case ScheduleFormat::Svg:
    writeSvg(schedule, timeline, os);
    return Error::success();
  case ScheduleFormat::Trace:
    writeTrace(schedule, timeline, os);
    return Error::success();
  case ScheduleFormat::Mlir:
    return writeMlir(schedule, os);
  }
  llvm_unreachable("all formats are handled");
}
