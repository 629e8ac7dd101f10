//===- ResolveSchedule.cpp - What the schedule asks of a build
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/ResolveSchedule.h"

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/LayerLayout.h"
#include "pipewright/Schedule/ScheduleFile.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

using namespace llvm;
using namespace pipewright;

static constexpr int64_t usualRanks = 1, usualMicrobatches = 8;

/// \p count, or \p usual where it is 0: not given.
static int64_t orElse(int64_t count, int64_t usual) {
  return count == 0 ? usual : count;
}

/// Refuses a \p schedule of a file that has other numbers than those given.
static Error checkNumbers(const Schedule &schedule,
                          const BuildOptions &options) {
  const ScheduleShape &shape = schedule.getShape();
  for (auto [name, given, found] :
       {std::tuple("ranks", options.ranks, shape.ranks),
        std::tuple("micro-batches", options.microbatches, shape.microbatches),
        std::tuple("chunks", options.chunks, shape.chunks)})
    if (given != 0 && given != found)
      return createStringError("'" + options.schedule + "' has " +
                               Twine(found) + " " + name + ", not " +
                               Twine(given));
  return Error::success();
}

static Expected<Schedule> makeSchedule(const BuildOptions &options) {
  if (!isScheduleFile(options.schedule))
    return buildSchedule(
        options.schedule,
        {{orElse(options.ranks, usualRanks),
          orElse(options.microbatches, usualMicrobatches), options.chunks}});
  Expected<Schedule> schedule = readScheduleFile(options.schedule);
  if (!schedule)
    return schedule;
  if (Error error = checkNumbers(*schedule, options))
    return error;
  std::vector<Violation> violations = checkSchedule(*schedule);
  if (violations.empty())
    return schedule;
  return createStringError("'" + options.schedule + "' is not valid\n" +
                           StringRef(toString(violations)).rtrim());
}

/// Whether any backward of \p schedule runs as B and W apart.
static bool splitsBackward(const Schedule &schedule) {
  bool found = false;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    for (const Action &action : schedule.getActions(rank))
      forEachPart(action, [&](const Action &part) {
        found |= part.kind == ActionKind::W;
      });
  return found;
}

/// Reads the stages' layers, and the chunks of a schedule that has no file to
/// say them, from the layout.
static Error resolveLayout(BuildOptions &options) {
  if (options.layout.empty())
    return Error::success();
  if (!options.splitAt.empty())
    return createStringError(
        "--layout and --split-at both say where stages begin; give one");
  Expected<LayerLayout> layout = parseLayerLayout(options.layout);
  if (!layout)
    return layout.takeError();
  for (StringRef layers : layout->stages)
    options.needs.stageSizes.push_back(layers.size());
  if (isScheduleFile(options.schedule))
    return Error::success();
  return setChunks(*layout, orElse(options.ranks, usualRanks), options.chunks);
}

static Error resolveInference(BuildOptions &options) {
  options.ranks = orElse(options.ranks, usualRanks);
  options.microbatches = orElse(options.microbatches, usualMicrobatches);
  options.chunks = orElse(options.chunks, 1);
  if (isTractable(options.ranks, options.chunks) &&
      isTractable(options.ranks * options.chunks, options.microbatches))
    return Error::success();
  return createStringError(
      Twine(options.ranks) + " ranks, " + Twine(options.chunks) +
      " chunks and " + Twine(options.microbatches) +
      " micro-batches are too many; their product may be " + Twine(maxWork) +
      " at most");
}

Error pipewright::resolveSchedule(BuildOptions &options) {
  if (Error error = resolveLayout(options))
    return error;
  if (options.forwardOnly)
    return resolveInference(options);
  Expected<Schedule> schedule = makeSchedule(options);
  if (!schedule)
    return schedule.takeError();
  if (schedule->getDirections() > 2)
    return createStringError("schedule '" + schedule->getName() + "' has " +
                             Twine(schedule->getDirections()) +
                             " directions; a pipeline has 2 at most");
  // What a search found by name need not be searched for again.
  if (schedule->getChosen() == "search")
    options.needs.requestedChunks = options.chunks;
  else if (!schedule->getChosen().empty())
    options.schedule = schedule->getChosen().str();
  const ScheduleShape &shape = schedule->getShape();
  options.ranks = shape.ranks;
  options.microbatches = shape.microbatches;
  options.chunks = shape.chunks;
  options.needs.splitsBackward = splitsBackward(*schedule);
  if (schedule->getPlacement() != placeInLoops(shape.ranks, shape.chunks))
    options.needs.placement = schedule->getPlacement();
  return Error::success();
}
