//===- ScheduleRegistry.cpp - The schedules known by name
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/ScheduleRegistry.h"

#include "pipewright/Schedule/Recomputation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace pipewright;

namespace pipewright {
#define PIPEWRIGHT_ENTRY(NAME) void register##NAME(ScheduleRegistry &registry);
#include "pipewright/Schedule/Generators.def"
#undef PIPEWRIGHT_ENTRY
} // namespace pipewright

const ScheduleRegistry &ScheduleRegistry::get() {
  static const ScheduleRegistry registry = [] {
    ScheduleRegistry result;
#define PIPEWRIGHT_ENTRY(NAME) register##NAME(result);
#include "pipewright/Schedule/Generators.def"
#undef PIPEWRIGHT_ENTRY
    llvm::sort(result.entries,
               [](const ScheduleInfo &lhs, const ScheduleInfo &rhs) {
                 return lhs.name < rhs.name;
               });
    return result;
  }();
  return registry;
}

const ScheduleInfo *ScheduleRegistry::lookup(StringRef name) const {
  for (const ScheduleInfo &info : entries)
    if (info.name == name)
      return &info;
  return nullptr;
}

bool pipewright::isSearch(StringRef name) {
  const ScheduleInfo *info = ScheduleRegistry::get().lookup(name);
  return info && info->isSearch;
}

std::vector<int64_t> pipewright::listUsualChunks() {
  std::vector<int64_t> numbers;
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries())
    if (!info.isSearch)
      numbers.push_back(info.chunks);
  llvm::sort(numbers);
  numbers.erase(llvm::unique(numbers), numbers.end());
  return numbers;
}

/// The number of chunks to use where \p request leaves it open.
static int64_t chooseChunks(const ScheduleInfo &info,
                            const ScheduleRequest &request) {
  int64_t stages = request.costs.stages.size(), ranks = request.shape.ranks;
  if (stages == 0 || ranks < 1 || stages % ranks != 0)
    return info.chunks;
  return stages / ranks;
}

Expected<Schedule> pipewright::buildSchedule(StringRef name,
                                             ScheduleRequest request) {
  const ScheduleRegistry &registry = ScheduleRegistry::get();
  const ScheduleInfo *info = registry.lookup(name);
  if (!info) {
    std::string known =
        join(map_range(registry.getEntries(),
                       [](const ScheduleInfo &entry) { return entry.name; }),
             ", ");
    return createStringError("unknown schedule '" + name +
                             "'; known schedules are " + known);
  }
  ScheduleShape &shape = request.shape;
  if (shape.chunks == 0)
    shape.chunks = chooseChunks(*info, request);
  // A generator that chooses the number of chunks is left to do so.
  int64_t chunks = shape.chunks == 0 && info->chunks == 0 ? 1 : shape.chunks;
  for (auto [what, count] : {std::pair("ranks", shape.ranks),
                             std::pair("micro-batches", shape.microbatches),
                             std::pair("chunks", chunks)})
    if (count < 1)
      return createStringError("schedule '" + name + "' needs at least 1 of " +
                               what + ", not " + Twine(count));
  auto addName = [&](Error error) {
    return createStringError("schedule '" + name + "' " +
                             toString(std::move(error)));
  };
  if (Error error = checkTractable({shape.ranks, shape.microbatches, chunks}))
    return addName(std::move(error));
  if (request.group != 0 && !info->hasGroups)
    return createStringError("schedule '" + name +
                             "' has no groups of micro-batches, so it takes no "
                             "group size");
  Expected<Schedule> schedule = info->build(request);
  if (!schedule)
    return addName(schedule.takeError());
  schedule->setName(info->name);
  return request.recompute ? addRecomputation(*schedule) : std::move(*schedule);
}

Error pipewright::refuseNumber(const Twine &rule, int64_t given,
                               ArrayRef<int64_t> nearest) {
  std::string uses;
  for (int64_t number : nearest)
    if (number >= 1)
      uses += (uses.empty() ? "" : " or ") + std::to_string(number);
  return createStringError("needs " + rule + ", not " + Twine(given) +
                           "; use " + uses);
}

Error pipewright::checkChunks(const ScheduleShape &shape, int64_t chunks) {
  if (shape.chunks == chunks)
    return Error::success();
  return refuseNumber(Twine(chunks) + (chunks == 1 ? " chunk" : " chunks") +
                          " per rank",
                      shape.chunks, chunks);
}

Error pipewright::checkMultiple(StringRef what, int64_t count, int64_t factor) {
  if (count % factor == 0)
    return Error::success();
  int64_t below = count / factor * factor;
  std::string rule =
      factor == 2 ? ("an even number of " + what).str()
                  : ("a multiple of " + Twine(factor) + " " + what).str();
  return refuseNumber(rule, count, {below, below + factor});
}

Error pipewright::checkTractable(const ScheduleShape &shape) {
  if (isTractable(shape.ranks, shape.chunks) &&
      isTractable(shape.ranks * shape.chunks, shape.microbatches))
    return Error::success();
  return createStringError(
      "of " + Twine(shape.ranks) + " ranks, " + Twine(shape.chunks) +
      " chunks and " + Twine(shape.microbatches) +
      " micro-batches is too large; their product may be " + Twine(maxWork) +
      " at most");
}
