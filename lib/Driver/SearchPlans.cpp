//===- SearchPlans.cpp - Which split and schedule is fastest
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/SearchPlans.h"

#include "CutModel.h"
#include "PlanMachine.h"
#include "PlanShapes.h"
#include "PredictStep.h"
#include "PricedModel.h"
#include "QuietErrors.h"
#include "ScorePlan.h"

#include "pipewright/Cost/LayerTimes.h"
#include "pipewright/Dialect/PP/ParameterBytes.h"
#include "pipewright/Driver/AddTopology.h"
#include "pipewright/Driver/Phases.h"
#include "pipewright/Driver/ResolveSchedule.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include <map>

using namespace mlir;
using namespace pipewright;

namespace {
/// A shape with the cut that it begins with, by the estimate of its time.
struct Scored {
  PlanShape shape;
  PlanScore score;

  /// No two are equal, so that their order is always the same.
  auto rank() const {
    return std::tuple(score.excessBytes, score.stepSeconds, score.peakBytes,
                      shape.replicas, shape.microbatchSize, shape.chunks,
                      llvm::StringRef(shape.schedule));
  }
};

class PlanSearcher {
public:
  PlanSearcher(const PlanRequest &request, MLIRContext &context,
               PhaseListener listener)
      : request(request), context(context), listener(listener) {}

  FailureOr<PlanSearch> run();

private:
  LogicalResult readFiles();
  LogicalResult readModels();
  bool readModel(int64_t microbatchSize);
  RematSet getRemats() const;
  int64_t getMemory() const;

  BuildOptions makeOptions(const PlanShape &shape) const;
  llvm::Expected<CostModel> getCosts(const PlanShape &shape,
                                     const Schedule &schedule);
  llvm::Expected<CutSearchProblem> makeProblem(const PlanShape &shape,
                                               const Schedule &schedule);
  void scoreAll();
  std::optional<PlanCandidate> refine(const PlanShape &shape, int64_t memory);
  PlanCandidate makeCandidate(const PlanShape &shape, const Schedule &schedule,
                              JudgedCut cut);
  void refineFastest(PlanSearch &search);

  void planFastest(PlanSearch &search);
  bool fit(PlanCandidate &candidate);
  std::optional<int64_t> planPeak(const PlanCandidate &candidate) const;

  void addAlternatives(PlanSearch &search);
  std::optional<PlanCandidate> tryWithoutPipeline(const PlanCandidate &first,
                                                  int64_t replicas);
  void addChanges(PlanSearch &search);

  const PlanRequest &request;
  MLIRContext &context;
  PhaseListener listener;
  std::optional<Profile> profile;
  /// Of the micro-batches whose times are known; 0: of any.
  int64_t measuredSize = 0;
  std::optional<PlanMachine> machine;
  std::map<int64_t, PricedModel> models;
  /// By the ranks of a pipeline and the placement of its stages.
  std::map<std::pair<int64_t, Placement>, CostModel> machines;
  std::vector<Scored> scored;
  std::vector<PlanCandidate> candidates;
  std::string whyNot; ///< the first error of a trial
};
} // namespace

static PlanShape getShape(const PlanCandidate &candidate) {
  const BuildOptions &options = candidate.options;
  return {candidate.replicas,   options.ranks,    *options.microbatchSize,
          options.microbatches, options.schedule, options.chunks};
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

LogicalResult PlanSearcher::readFiles() {
  FailureOr<std::optional<Profile>> read =
      loadProfile(request.options, context);
  if (failed(read))
    return failure();
  profile = std::move(*read);
  if (profile)
    measuredSize = profile->microbatchSize;
  if (!request.options.layerTimes.empty()) {
    llvm::Expected<LayerTimes> times =
        readLayerTimes(request.options.layerTimes);
    if (!times)
      return emitError(UnknownLoc::get(&context))
             << llvm::toString(times.takeError());
    measuredSize = times->microbatchSize;
  }
  llvm::Expected<PlanMachine> found =
      PlanMachine::read(request.options, profile);
  if (!found)
    return emitError(UnknownLoc::get(&context))
           << llvm::toString(found.takeError());
  machine = std::move(*found);
  return success();
}

bool PlanSearcher::readModel(int64_t microbatchSize) {
  BuildOptions options = request.options;
  options.globalBatch.reset();
  options.microbatchSize = microbatchSize;
  // Experts are farthest apart where as few pipelines as can be are long.
  options.ranks /= std::max(request.replicas, options.peers);
  OwningOpRef<ModuleOp> module = loadModel(options, context);
  if (!module || failed(runAll(getPhasesBefore("Stages"), *module, options)))
    return false;
  models.try_emplace(microbatchSize, std::move(module));
  return true;
}

LogicalResult PlanSearcher::readModels() {
  std::vector<int64_t> sizes = listMicrobatchSizes(request, measuredSize);
  for (int64_t size : sizes) {
    listener("micro-batches of " + std::to_string(size));
    QuietErrors quiet(context);
    if (!readModel(size) && whyNot.empty())
      whyNot = quiet.first;
  }
  // With none of the sizes: again, for all that is wrong and where.
  if (models.empty() && !readModel(sizes.front()))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

/// Any of them, unless one is given: then it is the memory that decides.
RematSet PlanSearcher::getRemats() const {
  if (!request.keepsRemat)
    return {};
  return getRematSet(request.options.remat);
}

int64_t PlanSearcher::getMemory() const {
  return request.options.memory > 0 ? request.options.memory
                                    : std::numeric_limits<int64_t>::max();
}

BuildOptions PlanSearcher::makeOptions(const PlanShape &shape) const {
  BuildOptions options = request.options;
  options.globalBatch.reset();
  options.microbatchSize = shape.microbatchSize;
  options.replicas = shape.replicas;
  options.microbatches = shape.microbatches;
  options.ranks = shape.ranks;
  options.chunks = shape.chunks;
  options.schedule = shape.schedule;
  return options;
}

/// What a step with \p schedule meets beside its stages. Where ranks go on a
/// topology depends on the placement of its stages alone.
llvm::Expected<CostModel> PlanSearcher::getCosts(const PlanShape &shape,
                                                 const Schedule &schedule) {
  auto [known, isNew] =
      machines.try_emplace({shape.ranks, schedule.getPlacement()});
  if (!isNew)
    return known->second;
  const PricedModel &model = models.at(shape.microbatchSize);
  QuietErrors quiet(context);
  BuildOptions options = makeOptions(shape);
  options.needs.placement = schedule.getPlacement();
  if (failed(addTopology(*model.module, options)))
    return llvm::createStringError(quiet.first);
  llvm::Expected<CostModel> costs =
      machine->makeCosts(options, schedule, model.layers);
  if (costs)
    known->second = *costs;
  else
    machines.erase(known);
  return costs;
}

llvm::Expected<CutSearchProblem>
PlanSearcher::makeProblem(const PlanShape &shape, const Schedule &schedule) {
  llvm::Expected<CostModel> costs = getCosts(shape, schedule);
  if (!costs)
    return costs.takeError();
  const PricedModel &model = models.at(shape.microbatchSize);
  CutSearchProblem problem;
  problem.layers = model.layers;
  problem.schedule = &schedule;
  problem.remats = getRemats();
  problem.memory = getMemory();
  problem.costs = std::move(*costs);
  problem.updateSecondsPerByte =
      machine->getUpdateSecondsPerByte(model.copies) +
      machine->getReduceSecondsPerByte(model.copies, shape.replicas,
                                       shape.ranks);
  problem.updateLatency =
      machine->getReduceLatency(shape.replicas, shape.ranks);
  if (int64_t peers = request.options.peers; peers > 1) {
    int64_t holders = shape.replicas / peers, distance = shape.ranks * peers;
    problem.shardGainPerByte =
        machine->getReduceSecondsPerByte(model.copies, shape.replicas,
                                         shape.ranks) -
        machine->getReduceSecondsPerByte(model.copies, holders, distance);
    problem.updateLatency += machine->getReduceLatency(holders, distance);
  }
  if (schedule.getDirections() > 1)
    problem.updateSecondsPerByte +=
        machine->getExchangeSecondsPerByte(model.copies);
  return problem;
}

void PlanSearcher::scoreAll() {
  for (auto &[size, model] : models) {
    if (whyNot.empty())
      whyNot = "the model can be cut into " +
               std::to_string(model.units.size()) + " stages at most";
    for (PlanShape &shape : listShapes(request, size, model.units.size())) {
      llvm::Expected<PlanScore> score =
          scorePlan(shape, [&](const Schedule &schedule) {
            return makeProblem(shape, schedule);
          });
      if (score)
        scored.push_back({std::move(shape), std::move(*score)});
      else
        whyNot = llvm::toString(score.takeError());
    }
  }
  llvm::sort(scored, [](const Scored &lhs, const Scored &rhs) {
    return lhs.rank() < rhs.rank();
  });
}

/// Notes the stage that computes longest.
static void addSlowestStage(const Schedule &schedule, const JudgedCut &cut,
                            const LayerUnits &units, PlanCandidate &candidate) {
  double slowest = -1;
  for (int64_t stage = 0; stage < schedule.getStages(); ++stage) {
    double time = getStageTime(schedule, cut.costs, stage);
    if (time <= slowest)
      continue;
    slowest = time;
    candidate.slowestStage = stage;
    candidate.slowestRank = schedule.getRank(stage);
  }
  size_t begin = cut.begins[candidate.slowestStage];
  size_t next = candidate.slowestStage + 1;
  size_t end = next < cut.begins.size() ? cut.begins[next] : units.size();
  for (size_t unit = begin; unit < end; ++unit)
    for (pp::LayerOp layer : units[unit])
      candidate.slowestLayers.push_back(layer.getName().str());
}

std::string PlanCandidate::describeRemat() const {
  llvm::ArrayRef<std::string> remats = options.needs.layerRemats;
  return llvm::all_equal(remats) ? remats.front() : "mixed";
}

PlanCandidate PlanSearcher::makeCandidate(const PlanShape &shape,
                                          const Schedule &schedule,
                                          JudgedCut cut) {
  const PricedModel &model = models.at(shape.microbatchSize);
  PlanCandidate candidate;
  candidate.options = makeOptions(shape);
  keepCut(cut, model.units, candidate.options);
  candidate.replicas = shape.replicas;
  int64_t microbatches = shape.replicas * shape.microbatches;
  candidate.samples = microbatches * shape.microbatchSize;
  candidate.tokens = microbatches * model.tokens;
  candidate.stepSeconds = cut.stepSeconds;
  candidate.peakBytes = cut.getPeakBytes();
  candidate.flopsUse =
      double(model.flops) * microbatches / cut.stepSeconds /
      machine->getPeak(model.kind, shape.replicas * shape.ranks);
  candidate.losses = findLosses(schedule, cut);
  candidate.bubbleRatio = getBubbleRatio(schedule, cut);
  addSlowestStage(schedule, cut, model.units, candidate);
  candidate.cut = std::move(cut);
  return candidate;
}

/// Searches the best cut within \p memory.
std::optional<PlanCandidate> PlanSearcher::refine(const PlanShape &shape,
                                                  int64_t memory) {
  llvm::Expected<Schedule> schedule = buildSchedule(
      shape.schedule, {shape.ranks, shape.microbatches, shape.chunks});
  if (!schedule) {
    llvm::consumeError(schedule.takeError());
    return std::nullopt;
  }
  llvm::Expected<CutSearchProblem> problem = makeProblem(shape, *schedule);
  if (!problem) {
    llvm::consumeError(problem.takeError());
    return std::nullopt;
  }
  problem->memory = memory;
  problem->budget = 2'000'000;
  std::optional<JudgedCut> cut = searchCut(*problem);
  if (!cut)
    return std::nullopt;
  return makeCandidate(shape, *schedule, std::move(*cut));
}

static bool isFaster(const PlanCandidate &lhs, const PlanCandidate &rhs) {
  auto rank = [](const PlanCandidate &candidate) {
    const BuildOptions &options = candidate.options;
    return std::tie(candidate.stepSeconds, candidate.peakBytes,
                    candidate.replicas, *options.microbatchSize, options.chunks,
                    options.schedule);
  };
  return rank(lhs) < rank(rhs);
}

/// Looks closer at several times as many as are wanted: what is fastest with
/// the first cut need not be with the best one.
void PlanSearcher::refineFastest(PlanSearch &search) {
  size_t left = 4 * request.count;
  for (const Scored &one : scored) {
    if (left-- == 0)
      break;
    std::optional<PlanCandidate> candidate = refine(one.shape, getMemory());
    if (!candidate)
      continue;
    if (candidate->cut.excessBytes == 0)
      candidates.push_back(std::move(*candidate));
    else if (!search.smallest ||
             candidate->peakBytes < search.smallest->peakBytes)
      search.smallest = std::move(*candidate);
  }
  llvm::sort(candidates, isFaster);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// The largest arena of the plan.
std::optional<int64_t>
PlanSearcher::planPeak(const PlanCandidate &candidate) const {
  BuildOptions options = candidate.options;
  if (llvm::Error error = resolveSchedule(options)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  return findPeak(*models.at(*options.microbatchSize).module, options);
}

/// Whether the plan can be built, and fits; cuts it again if the memory of its
/// tasks, which layers do not tell, leaves too little.
bool PlanSearcher::fit(PlanCandidate &candidate) {
  constexpr int64_t mostActions = 20'000;
  const BuildOptions &options = candidate.options;
  int64_t actions = options.ranks * options.chunks * options.microbatches;
  if (actions > mostActions)
    return true;
  PlanShape shape = getShape(candidate);
  int64_t memory = getMemory();
  for (int trial = 0; trial < 4; ++trial) {
    std::optional<int64_t> peak = planPeak(candidate);
    if (!peak)
      return false;
    int64_t estimate = candidate.peakBytes;
    candidate.peakBytes = *peak;
    candidate.isPlanned = true;
    if (*peak <= getMemory())
      return true;
    memory = std::min(memory, estimate) - (*peak - getMemory());
    std::optional<PlanCandidate> next = refine(shape, memory);
    if (!next || next->cut.excessBytes > 0)
      return false;
    candidate = std::move(*next);
  }
  return false;
}

void PlanSearcher::planFastest(PlanSearch &search) {
  for (PlanCandidate &candidate : candidates) {
    if (search.plans.size() == request.count)
      break;
    listener(candidate.options.schedule);
    bool fits = fit(candidate);
    search.planned += candidate.isPlanned;
    if (fits)
      search.plans.push_back(candidate);
    else if (candidate.isPlanned &&
             (!search.smallest ||
              candidate.peakBytes < search.smallest->peakBytes))
      search.smallest = candidate;
  }
  llvm::sort(search.plans, isFaster);
}

//===----------------------------------------------------------------------===//
// Other ways to train
//===----------------------------------------------------------------------===//

/// The model whole on each of \p replicas ranks, whether it fits or not.
std::optional<PlanCandidate>
PlanSearcher::tryWithoutPipeline(const PlanCandidate &first, int64_t replicas) {
  int64_t size = *first.options.microbatchSize;
  if (first.samples % (replicas * size) != 0 ||
      replicas % request.options.peers != 0)
    return std::nullopt;
  PlanShape shape = {replicas, 1, size, first.samples / replicas / size,
                     "1f1b",   1};
  std::optional<PlanCandidate> candidate = refine(shape, getMemory());
  if (candidate && fit(*candidate))
    return candidate;
  return std::nullopt;
}

void PlanSearcher::addAlternatives(PlanSearch &search) {
  if (search.plans.empty() || request.options.ranks == 1)
    return;
  const PlanCandidate &first = search.plans.front();
  search.single = tryWithoutPipeline(first, 1);
  search.parallel = tryWithoutPipeline(first, request.options.ranks);
}

/// What the time for a sample would be with more of something.
void PlanSearcher::addChanges(PlanSearch &search) {
  if (search.plans.empty())
    return;
  const PlanCandidate &first = search.plans.front();
  const BuildOptions &options = first.options;
  double perSample = first.stepSeconds / first.samples;
  auto add = [&](std::string what, double seconds, int64_t samples) {
    double gain = 1 - seconds / samples / perSample;
    if (gain > 1e-3)
      search.changes.push_back({std::move(what), gain});
  };
  llvm::Expected<Schedule> schedule = buildSchedule(
      options.schedule, {options.ranks, options.microbatches, options.chunks});
  llvm::Expected<Schedule> longer =
      buildSchedule(options.schedule,
                    {options.ranks, 2 * options.microbatches, options.chunks});
  if (longer)
    add("twice the global batch",
        simulateCut(*longer, first.cut.costs) + first.cut.updateSeconds,
        2 * first.samples);
  else
    llvm::consumeError(longer.takeError());
  add("links that are twice as fast",
      simulateCut(llvm::cantFail(std::move(schedule)),
                  speedUpLinks(first.cut.costs, 2)) +
          first.cut.updateSeconds,
      first.samples);
  std::optional<PlanCandidate> larger =
      refine(getShape(first), std::numeric_limits<int64_t>::max());
  if (larger && larger->peakBytes > getMemory())
    add(formatBytes(larger->peakBytes - getMemory()) + " more memory a rank",
        larger->stepSeconds, larger->samples);
  llvm::sort(search.changes, [](const PlanChange &lhs, const PlanChange &rhs) {
    return std::tie(rhs.gain, lhs.what) < std::tie(lhs.gain, rhs.what);
  });
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

FailureOr<PlanSearch> PlanSearcher::run() {
  if (failed(readFiles()) || failed(readModels()))
    return failure();
  listener("Schedules");
  scoreAll();
  PlanSearch search;
  search.simulated = scored.size();
  listener("Cuts");
  refineFastest(search);
  planFastest(search);
  if (search.plans.empty() && !search.smallest)
    return emitError(UnknownLoc::get(&context))
           << "no schedule can be built for " << request.options.ranks
           << " ranks" << (whyNot.empty() ? std::string() : ": " + whyNot);
  addAlternatives(search);
  addChanges(search);
  return search;
}

FailureOr<PlanSearch> pipewright::searchPlans(const PlanRequest &request,
                                              MLIRContext &context,
                                              PhaseListener listener) {
  return PlanSearcher(request, context, listener).run();
}
