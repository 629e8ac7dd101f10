//===- ResolveSchedule.cpp - What the schedule asks of a build
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/ResolveSchedule.h"

#include "pipewright/Driver/Phases.h"
#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/LayerLayout.h"
#include "pipewright/Schedule/ScheduleFile.h"
#include "pipewright/Schedule/Search.h"
#include "pipewright/Schedule/StageGraph.h"

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

Expected<Schedule> pipewright::makeSchedule(const BuildOptions &options) {
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

/// Has the stages of the build placed as those of \p schedule.
static void takePlacement(const Schedule &schedule, BuildOptions &options) {
  const ScheduleShape &shape = schedule.getShape();
  options.chunks = shape.chunks;
  options.needs.placement.clear();
  if (schedule.getPlacement() != placeInLoops(shape.ranks, shape.chunks))
    options.needs.placement = schedule.getPlacement();
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

/// Completes the options where no schedule tells the numbers.
static Error resolveNumbers(BuildOptions &options) {
  options.ranks = orElse(options.ranks, usualRanks);
  options.microbatches = orElse(options.microbatches, usualMicrobatches);
  int64_t chunks = orElse(options.chunks, 1);
  if (isTractable(options.ranks, chunks) &&
      isTractable(options.ranks * chunks, options.microbatches))
    return Error::success();
  return createStringError(
      Twine(options.ranks) + " ranks, " + Twine(chunks) + " chunks and " +
      Twine(options.microbatches) +
      " micro-batches are too many; their product may be " + Twine(maxWork) +
      " at most");
}

Error pipewright::resolveSchedule(BuildOptions &options) {
  if (Error error = resolveLayout(options))
    return error;
  if (options.forwardOnly) {
    options.chunks = orElse(options.chunks, 1);
    return resolveNumbers(options);
  }
  if (isSearch(options.schedule)) {
    // Its own orders run W apart, and so may those that it takes.
    options.needs.splitsBackward = true;
    return resolveNumbers(options);
  }
  Expected<Schedule> schedule = makeSchedule(options);
  if (!schedule)
    return schedule.takeError();
  if (schedule->getDirections() > 2)
    return createStringError("schedule '" + schedule->getName() + "' has " +
                             Twine(schedule->getDirections()) +
                             " directions; a pipeline has 2 at most");
  options.ranks = schedule->getRanks();
  options.microbatches = schedule->getShape().microbatches;
  options.needs.splitsBackward = splitsBackward(*schedule);
  takePlacement(*schedule, options);
  return Error::success();
}

mlir::FailureOr<CostModel> pipewright::cutStages(mlir::ModuleOp module,
                                                 const BuildOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  mlir::PassManager pm(module.getContext());
  pm.addPass(createRematChoice(options));
  pm.addPass(createBalance(options));
  if (failed(pm.run(*copy)))
    return mlir::failure();
  mlir::FailureOr<StageGraph> graph = StageGraph::get(*copy);
  if (failed(graph))
    return mlir::failure();
  return graph->getCosts();
}

/// The same for so many chunks a rank, in loops over the ranks. It is a trial:
/// that a model has too few layers is no error.
static mlir::FailureOr<CostModel>
tryChunks(mlir::ModuleOp module, BuildOptions options, int64_t chunks) {
  options.chunks = chunks;
  options.needs.placement.clear();
  mlir::ScopedDiagnosticHandler quiet(
      module.getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
  return cutStages(module, options);
}

void pipewright::choosePlacement(mlir::ModuleOp module, BuildOptions &options) {
  if (options.forwardOnly || !isSearch(options.schedule))
    return;
  std::vector<int64_t> counts = listUsualChunks();
  if (options.chunks != 0)
    counts = {options.chunks};
  double best = std::numeric_limits<double>::infinity();
  for (int64_t chunks : counts) {
    mlir::FailureOr<CostModel> costs = tryChunks(module, options, chunks);
    if (failed(costs))
      continue;
    ScheduleRequest request(options.ranks, options.microbatches, chunks);
    request.costs.stages = costs->stages;
    Expected<Schedule> schedule = chooseRegistered(request);
    if (!schedule) {
      // The search does not depend on it.
      consumeError(schedule.takeError());
      continue;
    }
    double makespan = simulate(*schedule, *costs).makespan;
    if (makespan >= best)
      continue;
    best = makespan;
    takePlacement(*schedule, options);
  }
  // If the model cannot be cut, the phase Stages says why.
  options.chunks = orElse(options.chunks, counts.front());
}
