//===- ScheduleInput.cpp - Schedules by name or from a file
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleInput.h"

#include "pipewright/Schedule/Formats.h"

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

bool pipewright::isScheduleFile(StringRef name) {
  return name.ends_with(".csv") || name.ends_with(".json");
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
  std::optional<Schedule> schedule;
  Error error = readFile(path, [&](StringRef text) -> Error {
    Expected<Schedule> parsed = path.ends_with(".csv")
                                    ? parseScheduleCsv(text)
                                    : parseScheduleJson(text);
    if (!parsed)
      return parsed.takeError();
    schedule = std::move(*parsed);
    return Error::success();
  });
  if (error)
    return error;
  const ScheduleShape &shape = schedule->getShape();
  if (Error error = checkSize(path, options.ranks, shape.ranks))
    return error;
  if (Error error = checkSize(path, options.microbatches, shape.microbatches))
    return error;
  return std::move(*schedule);
}
