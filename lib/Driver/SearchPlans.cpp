//===- SearchPlans.cpp - Which split and schedule is fastest
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/SearchPlans.h"

#include "PredictStep.h"

#include "pipewright/Driver/AddTopology.h"
#include "pipewright/Driver/Phases.h"
#include "pipewright/Driver/ResolveSchedule.h"
#include "pipewright/Schedule/Recomputation.h"
#include "pipewright/Schedule/ScheduleRegistry.h"
#include "pipewright/Schedule/StageGraph.h"

#include "mlir/IR/Diagnostics.h"

#include <map>

using namespace mlir;
using namespace pipewright;

namespace {
/// Keeps diagnostics of trials from the user: that a model has too few layers
/// for so many stages is no error of a search.
class QuietErrors {
public:
  explicit QuietErrors(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (first.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error)
            first = diagnostic.str();
          return success();
        }) {}

  std::string first;

private:
  ScopedDiagnosticHandler handler;
};

/// The model with priced layers, for one size of micro-batches.
struct PricedModel {
  int64_t microbatchSize;
  OwningOpRef<ModuleOp> module;
  /// The stages' costs by placement and recomputation: several schedules share
  /// one.
  std::map<std::pair<Placement, std::string>, FailureOr<CostModel>> cuts;
};

class PlanSearcher {
public:
  PlanSearcher(const PlanRequest &request, MLIRContext &context,
               PhaseListener listener)
      : request(request), context(context), listener(listener) {}

  FailureOr<PlanSearch> run();

private:
  LogicalResult readModels();
  std::optional<PricedModel> readModel(int64_t microbatchSize);
  std::vector<int64_t> listMicrobatchSizes() const;
  std::vector<std::string> listSchedules() const;
  std::vector<int64_t> listChunks() const;
  std::vector<std::string> listRemats() const;

  void simulateAll(PricedModel &model);
  void simulateEachRemat(PricedModel &model, BuildOptions options);
  FailureOr<CostModel> getCosts(PricedModel &model,
                                const BuildOptions &options);

  void planFastest(PlanSearch &search);
  LogicalResult plan(PlanCandidate &candidate);
  void planOnOneRank(PlanSearch &search);

  const PlanRequest &request;
  MLIRContext &context;
  PhaseListener listener;
  std::optional<Profile> profile;
  std::vector<PricedModel> models;
  std::vector<PlanCandidate> candidates;
  std::string whyNot; ///< the first error of a trial
};
} // namespace

//===----------------------------------------------------------------------===//
// What there is to choose
//===----------------------------------------------------------------------===//

/// One if it is given, and else those that divide the batch and leave, where it
/// is large enough, a micro-batch for each rank.
std::vector<int64_t> PlanSearcher::listMicrobatchSizes() const {
  const BuildOptions &options = request.options;
  if (options.microbatchSize)
    return {*options.microbatchSize};
  int64_t batch = *options.globalBatch;
  // Other sizes are not measured.
  if (profile && batch % profile->microbatchSize == 0)
    return {profile->microbatchSize};
  int64_t largest = std::max<int64_t>(1, batch / options.ranks);
  std::vector<int64_t> sizes;
  for (int64_t size = 1; size <= largest; ++size)
    if (batch % size == 0)
      sizes.push_back(size);
  return sizes;
}

std::vector<std::string> PlanSearcher::listSchedules() const {
  if (request.keepsSchedule)
    return {request.options.schedule};
  std::vector<std::string> names;
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries())
    if (!info.isSearch)
      names.push_back(info.name.str());
  return names;
}

std::vector<int64_t> PlanSearcher::listChunks() const {
  if (request.options.chunks != 0)
    return {request.options.chunks};
  return listUsualChunks();
}

std::vector<std::string> PlanSearcher::listRemats() const {
  if (request.keepsRemat)
    return {request.options.remat};
  return {"none", "selective", "full"};
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

std::optional<PricedModel> PlanSearcher::readModel(int64_t microbatchSize) {
  QuietErrors quiet(context);
  BuildOptions options = request.options;
  options.globalBatch.reset();
  options.microbatchSize = microbatchSize;
  PricedModel model{microbatchSize, loadModel(options, context), {}};
  if (model.module &&
      succeeded(runAll(getPhasesBefore("Stages"), *model.module, options)))
    return model;
  if (whyNot.empty())
    whyNot = quiet.first;
  return std::nullopt;
}

LogicalResult PlanSearcher::readModels() {
  for (int64_t size : listMicrobatchSizes()) {
    listener("micro-batches of " + std::to_string(size));
    if (std::optional<PricedModel> model = readModel(size))
      models.push_back(std::move(*model));
  }
  if (!models.empty())
    return success();
  return emitError(UnknownLoc::get(&context)) << whyNot;
}

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

FailureOr<CostModel> PlanSearcher::getCosts(PricedModel &model,
                                            const BuildOptions &options) {
  Placement key = options.needs.placement;
  if (key.empty())
    key = placeInLoops(options.ranks, options.chunks);
  auto [cut, isNew] = model.cuts.try_emplace({key, options.remat}, failure());
  if (isNew)
    cut->second = cutStages(*model.module, options);
  return cut->second;
}

/// Fills in what \p metrics, in microseconds, say of a step.
static void addMetrics(const Metrics &metrics, PlanCandidate &candidate) {
  constexpr double second = 1e6;
  candidate.stepSeconds = metrics.makespan / second;
  candidate.bubbleRatio = metrics.bubbleRatio;
  double total = 0;
  for (auto [rank, idle] : llvm::enumerate(metrics.idle)) {
    double busy = (metrics.makespan - idle) / second;
    total += busy;
    if (busy <= candidate.busiestSeconds)
      continue;
    candidate.busiestSeconds = busy;
    candidate.busiestRank = rank;
  }
  candidate.averageSeconds = total / metrics.idle.size();
}

/// Adds a candidate for each policy of recomputation; none if there is no such
/// schedule, or the model cannot be cut for it.
void PlanSearcher::simulateEachRemat(PricedModel &model, BuildOptions options) {
  QuietErrors quiet(context);
  if (llvm::Error error = resolveSchedule(options))
    return llvm::consumeError(std::move(error));
  ScheduleRequest shape(options.ranks, options.microbatches, options.chunks);
  llvm::Expected<Schedule> plain = buildSchedule(options.schedule, shape);
  if (!plain)
    return llvm::consumeError(plain.takeError());
  for (const std::string &remat : listRemats()) {
    options.remat = remat;
    FailureOr<CostModel> costs = getCosts(model, options);
    if (failed(costs)) {
      if (whyNot.empty())
        whyNot = quiet.first;
      return;
    }
    Schedule schedule = remat == "none" ? *plain : addRecomputation(*plain);
    PlanCandidate &candidate = candidates.emplace_back();
    candidate.options = options;
    addMetrics(measure(schedule, simulate(schedule, *costs)), candidate);
  }
}

void PlanSearcher::simulateAll(PricedModel &model) {
  BuildOptions options = request.options;
  options.globalBatch.reset();
  options.microbatchSize = model.microbatchSize;
  options.microbatches = *request.options.globalBatch / model.microbatchSize;
  for (const std::string &schedule : listSchedules())
    for (int64_t chunks : listChunks()) {
      options.schedule = schedule;
      options.chunks = chunks;
      simulateEachRemat(model, options);
    }
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Takes the priced model through the other phases, which know the memory.
LogicalResult PlanSearcher::plan(PlanCandidate &candidate) {
  QuietErrors quiet(context);
  auto model = llvm::find_if(models, [&](const PricedModel &priced) {
    return priced.microbatchSize == *candidate.options.microbatchSize;
  });
  OwningOpRef<ModuleOp> module = model->module->clone();
  BuildOptions options = candidate.options;
  // What does not fit is planned too: it may be the best there is.
  options.memory = 0;
  if (failed(addTopology(*module, options)) ||
      failed(runAll(getPhasesFrom("Stages"), *module, options)))
    return failure();
  PlanSummary summary = summarizePlan(*module);
  FailureOr<PredictedStep> step =
      predictStep(*module, summary, options, profile, /*draws=*/false);
  if (failed(step))
    return failure();
  candidate.stepSeconds = step->makespan;
  candidate.bubbleRatio = step->bubbleRatio;
  for (const MemorySummary &memory : summary.memory)
    candidate.peakBytes = std::max(candidate.peakBytes, memory.arena);
  return success();
}

/// No two are equal, so that their order is always the same.
static bool isFaster(const PlanCandidate &lhs, const PlanCandidate &rhs) {
  auto rank = [](const PlanCandidate &candidate) {
    const BuildOptions &options = candidate.options;
    return std::tie(candidate.stepSeconds, candidate.peakBytes,
                    *options.microbatchSize, options.chunks, options.remat,
                    options.schedule);
  };
  return rank(lhs) < rank(rhs);
}

/// Plans the candidates in order until enough of them fit.
void PlanSearcher::planFastest(PlanSearch &search) {
  llvm::sort(candidates, isFaster);
  for (PlanCandidate &candidate : candidates) {
    if (search.plans.size() == request.count)
      break;
    listener(candidate.options.schedule);
    if (failed(plan(candidate)))
      continue;
    ++search.planned;
    int64_t limit = request.options.memory;
    if (limit == 0 || candidate.peakBytes <= limit)
      search.plans.push_back(candidate);
    else if (!search.smallest ||
             candidate.peakBytes < search.smallest->peakBytes)
      search.smallest = candidate;
  }
  llvm::sort(search.plans, isFaster);
}

/// Whether there is a need for a pipeline at all.
void PlanSearcher::planOnOneRank(PlanSearch &search) {
  if (search.plans.empty() || request.options.ranks == 1)
    return;
  PlanCandidate single;
  single.options = search.plans.front().options;
  single.options.ranks = single.options.chunks = 1;
  single.options.schedule = "1f1b";
  single.options.remat = "none";
  if (llvm::Error error = resolveSchedule(single.options))
    return llvm::consumeError(std::move(error));
  if (succeeded(plan(single)))
    search.single = single;
}

FailureOr<PlanSearch> PlanSearcher::run() {
  FailureOr<std::optional<Profile>> read =
      loadProfile(request.options, context);
  if (failed(read))
    return failure();
  profile = std::move(*read);
  if (failed(readModels()))
    return failure();
  listener("Schedules");
  for (PricedModel &model : models)
    simulateAll(model);
  PlanSearch search;
  search.simulated = candidates.size();
  planFastest(search);
  if (search.plans.empty() && !search.smallest)
    return emitError(UnknownLoc::get(&context))
           << "no schedule can be built for " << request.options.ranks
           << " ranks" << (whyNot.empty() ? std::string() : ": " + whyNot);
  planOnOneRank(search);
  return search;
}

FailureOr<PlanSearch> pipewright::searchPlans(const PlanRequest &request,
                                              MLIRContext &context,
                                              PhaseListener listener) {
  return PlanSearcher(request, context, listener).run();
}
