//===- ScheduleFile.h - Schedules kept in files -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_SCHEDULEFILE_H
#define PIPEWRIGHT_SCHEDULE_SCHEDULEFILE_H

#include "pipewright/Schedule/Formats.h"

namespace pipewright {

/// Whether \p name is that of a file, `.csv` or `.json`, rather than that of a
/// schedule of the registry.
bool isScheduleFile(llvm::StringRef name);

/// Reads the file at \p path, whose ending tells its format; errors begin with
/// the path. Whether the schedule can be trusted is for the checker to say.
llvm::Expected<Schedule>
readScheduleFile(llvm::StringRef path, CsvLetters letters = CsvLetters::Auto);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_SCHEDULEFILE_H
