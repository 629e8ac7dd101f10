//===- ScheduleInput.cpp - Schedules by name or from a file
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleInput.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace pipewright;

Error pipewright::readFile(StringRef path,
                           function_ref<Error(StringRef text)> parse) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (std::error_code code = buffer.getError())
    return createStringError("'" + path + "': " + code.message());
  if (Error error = parse((*buffer)->getBuffer()))
    return createStringError("'" + path + "': " + toString(std::move(error)));
  return Error::success();
}

static Error checkSize(StringRef path, const cl::opt<int64_t> &option,
                       int64_t found) {
  if (!option.getNumOccurrences() || option == found)
    return Error::success();
  return createStringError("'" + path + "' has " + Twine(found) + " " +
                           option.ArgStr + ", not " + Twine(option.getValue()));
}

Expected<Schedule> pipewright::readSchedule(StringRef path,
                                            const ScheduleOptions &options) {
  Expected<Schedule> schedule = readScheduleFile(path, options.csvLetters);
  if (!schedule)
    return schedule;
  const ScheduleShape &shape = schedule->getShape();
  if (Error error = checkSize(path, options.ranks, shape.ranks))
    return error;
  if (Error error = checkSize(path, options.microbatches, shape.microbatches))
    return error;
  return schedule;
}

std::string pipewright::formatSchedules() {
  std::string text = "\nSCHEDULES:\n\n";
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries())
    text += formatv("  {0,-18} {1}\n", info.name, info.summary);
  return text;
}
