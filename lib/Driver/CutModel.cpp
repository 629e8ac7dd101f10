//===- CutModel.cpp - The cut of a model as options
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CutModel.h"

#include "PlanMachine.h"
#include "PredictStep.h"
#include "PricedModel.h"
#include "QuietErrors.h"

#include "pipewright/Dialect/PP/ParameterBytes.h"
#include "pipewright/Driver/Phases.h"
#include "pipewright/Driver/ResolveSchedule.h"
#include "pipewright/Package/PlanSummary.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// What was chosen, as options
//===----------------------------------------------------------------------===//

RematSet pipewright::getRematSet(StringRef policy) {
  for (Remat remat : {Remat::None, Remat::Selective, Remat::Full})
    if (getName(remat) == policy)
      return RematSet::only(remat);
  return {};
}

void pipewright::keepCut(const JudgedCut &cut, const LayerUnits &units,
                         BuildOptions &options) {
  options.needs.stageSizes.clear();
  options.splitAt.clear();
  for (size_t begin : llvm::drop_begin(cut.begins))
    options.splitAt.push_back(
        pp::LayerOp(units[begin].front()).getName().str());
  options.needs.layerRemats.clear();
  for (auto [unit, remat] : llvm::enumerate(cut.remats))
    options.needs.layerRemats.insert(options.needs.layerRemats.end(),
                                     units[unit].size(), getName(remat).str());
}

//===----------------------------------------------------------------------===//
// The cut of a build
//===----------------------------------------------------------------------===//

namespace {
/// Cuts the model of a build for its schedule.
class ModelCutter {
public:
  ModelCutter(ModuleOp module, BuildOptions &options)
      : module(module), options(options), units(pp::getModel(module)) {}

  LogicalResult run();

private:
  InFlightDiagnostic refuse(llvm::Error error) {
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(std::move(error));
  }
  bool maySearch() const;
  LogicalResult prepare();
  std::optional<std::vector<size_t>> findBegins();
  std::optional<JudgedCut> cut() const;
  LogicalResult fit();

  ModuleOp module;
  BuildOptions &options;
  LayerUnits units;
  std::vector<PlanLayer> layers;
  std::optional<Schedule> schedule;
  CutSearchProblem problem;
  /// Where stages begin, if it is not for us to say.
  std::optional<std::vector<size_t>> begins;
};
} // namespace

/// Whether nobody else says where stages begin.
bool ModelCutter::maySearch() const {
  return (options.balance.empty() || options.balance == "time") &&
         options.splitAt.empty() && options.needs.stageSizes.empty();
}

/// The first unit of each stage, as the pass cuts the model; nothing if it
/// cannot, for reasons that it gives when it is run.
std::optional<std::vector<size_t>> ModelCutter::findBegins() {
  QuietErrors quiet(*module.getContext());
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager pm(module.getContext());
  pm.addPass(createBalance(options));
  if (failed(pm.run(*copy)))
    return std::nullopt;
  std::vector<size_t> begins;
  for (auto stage : copy->getOps<pp::StageOp>()) {
    if (stage.getDirection() != 0)
      continue;
    for (size_t unit = 0; unit < units.size(); ++unit)
      if (units.getBegin(unit) == stage.getFirstLayer())
        begins.push_back(unit);
  }
  return begins;
}

LogicalResult ModelCutter::prepare() {
  FailureOr<std::optional<Profile>> profile =
      loadProfile(options, *module.getContext());
  if (failed(profile))
    return failure();
  llvm::Expected<PlanMachine> machine = PlanMachine::read(options, *profile);
  if (!machine)
    return refuse(machine.takeError());
  llvm::Expected<Schedule> made = makeSchedule(options);
  if (!made)
    return refuse(made.takeError());
  schedule.emplace(std::move(*made));
  layers = makePlanLayers(module, units);
  llvm::Expected<CostModel> costs =
      machine->makeCosts(options, *schedule, layers);
  if (!costs)
    return refuse(costs.takeError());
  problem.layers = layers;
  problem.schedule = &*schedule;
  problem.remats = getRematSet(options.remat);
  problem.costs = std::move(*costs);
  problem.updateSecondsPerByte =
      machine->getUpdateSecondsPerByte(pp::countCopies(module));
  problem.budget = 2'000'000;
  return success();
}

std::optional<JudgedCut> ModelCutter::cut() const {
  return begins ? judgeCut(problem, *begins) : searchCut(problem);
}

/// Cuts again while the memory of tasks, which layers do not tell, leaves too
/// little. If nothing helps, the plan of the arena says what does not fit.
LogicalResult ModelCutter::fit() {
  problem.memory = options.memory;
  for (int trial = 0; trial < 4; ++trial) {
    std::optional<JudgedCut> best = cut();
    if (!best)
      return success();
    keepCut(*best, units, options);
    std::optional<int64_t> peak = findPeak(module, options);
    if (!peak || *peak <= options.memory || best->excessBytes > 0)
      return success();
    problem.memory = std::min(problem.memory, best->getPeakBytes()) -
                     (*peak - options.memory);
  }
  return success();
}

LogicalResult ModelCutter::run() {
  bool choosesRemat = options.remat == "auto";
  if (options.forwardOnly || (!choosesRemat && !maySearch()) ||
      !options.needs.layerRemats.empty())
    return success();
  if (isSearch(options.schedule)) {
    if (!choosesRemat)
      return success();
    return refuse(llvm::createStringError(
        "remat 'auto' needs to know the schedule: name one in place of '" +
        options.schedule + "'"));
  }
  if (failed(prepare()))
    return failure();
  if (!maySearch()) {
    begins = findBegins();
    if (!begins)
      return success();
  }
  if (options.memory > 0)
    return fit();
  if (std::optional<JudgedCut> best = cut())
    keepCut(*best, units, options);
  return success();
}

LogicalResult pipewright::cutModel(ModuleOp module, BuildOptions &options) {
  return ModelCutter(module, options).run();
}

std::optional<int64_t> pipewright::findPeak(ModuleOp module,
                                            BuildOptions options) {
  QuietErrors quiet(*module.getContext());
  // What does not fit is planned too.
  options.memory = 0;
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(runAll(getPhasesFrom("Stages"), *copy, options)))
    return std::nullopt;
  int64_t peak = 0;
  for (const MemorySummary &memory : summarizePlan(*copy).memory)
    peak = std::max(peak, memory.arena);
  return peak;
}
