//===- Search.cpp - The best schedule for given costs
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Search.h"

#include "Explore.h"
#include "Improve.h"

#include "pipewright/Schedule/Recomputation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace llvm;
using namespace pipewright;

namespace {
class Search {
public:
  /// Operations of the largest problem that it makes orders of its own for. In
  /// larger ones, what happens at both ends hardly matters.
  static constexpr int64_t maxSize = 1'000'000;

  /// Makes orders of its own only if \p withOwn.
  Search(const ScheduleRequest &request, bool withOwn)
      : request(request), withOwn(withOwn) {}

  /// The best schedule with \p chunks stages on each rank. It does not depend
  /// on what other numbers of chunks are tried, so asking for the number that
  /// a search chose gives the same schedule.
  void searchChunks(int64_t chunks);

  std::optional<Schedule> takeBest() { return std::move(best); }

private:
  /// Considers the registered schedules with so many copies of the parameters.
  void tryRegistered(ScheduleRequest sized, int64_t copies);
  void tryOwn(const ScheduleRequest &sized);
  void tryPlacement(const ScheduleRequest &sized,
                    const std::vector<int64_t> &placement);
  /// Makes small changes to the best so far.
  void tryChanges(const ScheduleRequest &sized);
  /// Keeps \p schedule if it is the best with its number of chunks.
  void offer(Schedule schedule, StringRef origin);
  Expected<Score> judge(const Schedule &schedule) const;

  ScheduleRequest request;
  bool withOwn;
  std::optional<Schedule> bestOfChunks, best;
  std::optional<Score> scoreOfChunks, score;
};
} // namespace

Expected<Score> Search::judge(const Schedule &schedule) const {
  Expected<CostModel> costs = makeCosts(schedule, request.costs);
  if (!costs)
    return costs.takeError();
  Schedule complete = request.recompute ? addRecomputation(schedule) : schedule;
  Metrics metrics = measure(complete, simulate(complete, *costs));
  double peak = *llvm::max_element(metrics.peakActivations);
  if (request.objective == Objective::Span)
    return Score{metrics.span, metrics.parameterCopies, peak, metrics.makespan};
  return Score{metrics.makespan, metrics.parameterCopies, peak, metrics.span};
}

void Search::offer(Schedule schedule, StringRef origin) {
  if (!request.placement.empty() &&
      schedule.getPlacement() != Placement{request.placement})
    return;
  Expected<Score> found = judge(schedule);
  if (!found)
    return consumeError(found.takeError());
  if (request.memoryLimit && found->memory > *request.memoryLimit)
    return;
  if (scoreOfChunks && !(*found < *scoreOfChunks))
    return;
  schedule.setChosen(origin);
  scoreOfChunks = *found;
  bestOfChunks = std::move(schedule);
}

void Search::tryRegistered(ScheduleRequest sized, int64_t copies) {
  // That is added to whatever is chosen.
  sized.recompute = false;
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries()) {
    if (info.isSearch)
      continue;
    Expected<Schedule> schedule = buildSchedule(info.name, sized);
    if (!schedule) {
      // It does not serve this shape; others do.
      consumeError(schedule.takeError());
      continue;
    }
    if (schedule->getDirections() == copies)
      offer(std::move(*schedule), info.name);
  }
}

void Search::tryPlacement(const ScheduleRequest &sized,
                          const std::vector<int64_t> &placement) {
  SearchProblem problem(sized, placement);
  if (std::optional<Found> found = explore(problem, scoreOfChunks))
    offer(problem.makeSchedule(found->orders), "search");
}

/// The operations of \p schedule, with both of a BW or of a pair one after the
/// other.
static SearchOrders getOrders(const Schedule &schedule) {
  SearchOrders orders(schedule.getRanks());
  for (auto [rank, order] : enumerate(orders))
    for (const Action &action : schedule.getActions(rank))
      forEachPart(action, [&, &order = order](const Action &part) {
        auto add = [&](ActionKind kind) {
          order.push_back({kind, static_cast<int32_t>(part.stage),
                           static_cast<int32_t>(part.microbatch)});
        };
        if (part.kind == ActionKind::F)
          add(ActionKind::F);
        if (part.isInputGradient())
          add(ActionKind::B);
        if (part.isWeightGradient())
          add(ActionKind::W);
      });
  return orders;
}

void Search::tryChanges(const ScheduleRequest &sized) {
  SearchProblem problem(sized, bestOfChunks->getPlacement().front());
  offer(problem.makeSchedule(improve(problem, getOrders(*bestOfChunks))),
        "search");
}

void Search::searchChunks(int64_t chunks) {
  ScheduleRequest sized = request;
  sized.shape.chunks = chunks;
  scoreOfChunks.reset();
  tryRegistered(sized, /*copies=*/1);
  int64_t size = 3 * sized.shape.ranks * chunks * sized.shape.microbatches;
  if (withOwn && size <= maxSize)
    tryOwn(sized);
  // Last, so that what changes can improve comes from one copy.
  if (request.parameterCopies > 1)
    tryRegistered(sized, /*copies=*/2);
  if (!scoreOfChunks || (score && !(*scoreOfChunks < *score)))
    return;
  score = scoreOfChunks;
  best = std::move(bestOfChunks);
}

void Search::tryOwn(const ScheduleRequest &sized) {
  const ScheduleShape &shape = sized.shape;
  if (!request.placement.empty()) {
    tryPlacement(sized, request.placement);
    if (scoreOfChunks)
      tryChanges(sized);
    return;
  }
  std::vector<int64_t> loops = placeInLoops(shape.ranks, shape.chunks).front();
  std::vector<int64_t> waves = placeInWaves(shape.ranks, shape.chunks).front();
  tryPlacement(sized, loops);
  if (waves != loops)
    tryPlacement(sized, waves);
  if (scoreOfChunks)
    tryChanges(sized);
}

/// Refuses what no schedule can answer.
static Error checkRequest(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  for (auto [what, given] : {std::pair("costs", request.costs.stages.size()),
                             std::pair("placement", request.placement.size())})
    if (given > 0 && int64_t(given) != shape.ranks * shape.chunks)
      return createStringError(
          "needs the " + Twine(what) + " of as many stages on each rank; " +
          Twine(given) + " stages are not those of " + Twine(shape.ranks) +
          " ranks" +
          (shape.chunks > 0 ? " with " + Twine(shape.chunks) + " chunks" : ""));
  if (request.memoryLimit && !(*request.memoryLimit >= 1))
    return createStringError(
        formatv("needs a memory limit of at least 1, not {0}: every schedule "
                "holds the activations of a micro-batch on each rank",
                *request.memoryLimit));
  return Error::success();
}

static Expected<Schedule> findBest(const ScheduleRequest &request,
                                   bool withOwn) {
  if (Error error = checkRequest(request))
    return error;
  const ScheduleShape &shape = request.shape;
  Search search(request, withOwn);
  if (shape.chunks > 0)
    search.searchChunks(shape.chunks);
  else
    for (int64_t chunks : listUsualChunks())
      search.searchChunks(chunks);
  std::optional<Schedule> best = search.takeBest();
  if (best)
    return std::move(*best);
  std::string limit;
  if (request.memoryLimit)
    limit =
        formatv(" that holds at most {0} activations", *request.memoryLimit);
  return createStringError(
      formatv("finds no schedule of {0} micro-batches{1}; only up to {2} "
              "operations does it make one of its own",
              shape.microbatches, limit, Search::maxSize));
}

Expected<Schedule> pipewright::searchSchedule(const ScheduleRequest &request) {
  return findBest(request, /*withOwn=*/true);
}

Expected<Schedule>
pipewright::chooseRegistered(const ScheduleRequest &request) {
  return findBest(request, /*withOwn=*/false);
}
