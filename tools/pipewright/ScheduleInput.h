//===- ScheduleInput.h - Schedules by name or from a file -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_SCHEDULEINPUT_H
#define PIPEWRIGHT_TOOLS_SCHEDULEINPUT_H

#include "ScheduleOptions.h"

#include "pipewright/Schedule/ScheduleFile.h"

namespace pipewright {

/// Reads the file \p path with \p parse; errors name the file.
llvm::Error
readFile(llvm::StringRef path,
         llvm::function_ref<llvm::Error(llvm::StringRef text)> parse);

/// Reads the schedule in the file \p path, which must be of the size that the
/// options ask for.
llvm::Expected<Schedule> readSchedule(llvm::StringRef path,
                                      const ScheduleOptions &options);

/// The part of a subcommand's help that lists the schedules.
std::string formatSchedules();

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_SCHEDULEINPUT_H
