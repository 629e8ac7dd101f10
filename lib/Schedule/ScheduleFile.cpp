//===- ScheduleFile.cpp - Schedules kept in files
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/ScheduleFile.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace pipewright;

bool pipewright::isScheduleFile(StringRef name) {
  return name.ends_with(".csv") || name.ends_with(".json");
}

Expected<Schedule> pipewright::readScheduleFile(StringRef path,
                                                CsvLetters letters) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (std::error_code code = buffer.getError())
    return createStringError("'" + path + "': " + code.message());
  StringRef text = (*buffer)->getBuffer();
  Expected<Schedule> schedule = path.ends_with(".csv")
                                    ? parseScheduleCsv(text, letters)
                                    : parseScheduleJson(text);
  if (!schedule)
    return createStringError("'" + path +
                             "': " + toString(schedule.takeError()));
  return schedule;
}
