//===- PredictStep.cpp - How long a step of a plan will take
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PredictStep.h"

#include "PlanMachine.h"

#include "pipewright/Dialect/PP/ParameterBytes.h"
#include "pipewright/Driver/AddTopology.h"
#include "pipewright/Schedule/Formats.h"
#include "pipewright/Schedule/ProgramSchedule.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pipewright;

/// The costs of the plan's stages in seconds, and their messages.
static CostModel getCosts(const PlanSummary &plan) {
  CostModel costs;
  for (const StageSummary &stage : plan.stages)
    if (stage.direction == 0)
      costs.stages.push_back({stage.secondsForward, stage.secondsBackwardInput,
                              stage.secondsBackwardWeight,
                              stage.secondsRecompute});
  for (const MessageSummary &message : plan.messages)
    if (message.direction == 0 && message.source < message.target)
      costs.stages[message.source].messageBytes += message.bytes;
  return costs;
}

/// Adds the parts of roles, which the plan does not list, from \p graph.
static void addParts(const StageGraph &graph, CostModel &costs) {
  constexpr double secondsPerMicrosecond = 1e-6;
  CostModel known = graph.getCosts();
  for (auto [cost, source] : llvm::zip_equal(costs.stages, known.stages)) {
    cost.forwardParts = source.forwardParts;
    cost.backwardParts = source.backwardParts;
    cost.hasWeightTask = source.hasWeightTask;
    for (std::vector<RolePart> *parts :
         {&cost.forwardParts, &cost.backwardParts})
      for (RolePart &part : *parts) {
        part.compute *= secondsPerMicrosecond;
        part.exchange *= secondsPerMicrosecond;
      }
  }
}

void pipewright::addLink(const PredictedMachine &machine, CostModel &costs) {
  costs.latency = machine.latencySeconds;
  costs.machine.bandwidth = machine.bytesPerSecond;
}

/// The time in which the slowest rank adds its gradients over all replicas and
/// updates its parameters; they are there once all ranks are done.
static llvm::Expected<double>
getUpdateSeconds(const BuildOptions &options, const PlanSummary &plan,
                 const std::optional<Profile> &profile, int64_t copies) {
  llvm::Expected<PlanMachine> machine = PlanMachine::read(options, profile);
  if (!machine)
    return machine.takeError();
  // Those that hold the same shard are a group apart.
  auto getSecondsPerByte = [&](int64_t shards) {
    return machine->getUpdateSecondsPerByte(copies) +
           machine->getReduceSecondsPerByte(copies, plan.replicas / shards,
                                            plan.ranks * shards);
  };
  std::vector<double> seconds(plan.ranks);
  for (const StageSummary &stage : plan.stages)
    for (const ParameterSummary &parameter : stage.parameters)
      if (parameter.trainable)
        seconds[stage.rank] += parameter.getRankBytes() * copies *
                               getSecondsPerByte(parameter.shards);
  double latency = machine->getReduceLatency(plan.replicas, plan.ranks);
  if (plan.peers > 1)
    latency += machine->getReduceLatency(plan.replicas / plan.peers,
                                         plan.ranks * plan.peers);
  return *llvm::max_element(seconds) + latency;
}

/// The time in which ranks that hold the same parameters add up their
/// gradients: the others send theirs to the first one, which sends the sum
/// back. The rank that exchanges most decides.
static double getExchangeSeconds(const MeasuredLink &link,
                                 const PlanSummary &plan) {
  llvm::StringMap<SmallVector<int64_t, 2>> holders;
  std::vector<double> seconds(plan.ranks);
  for (const StageSummary &stage : plan.stages)
    for (const ParameterSummary &parameter : stage.parameters) {
      SmallVector<int64_t, 2> &ranks = holders[parameter.name];
      if (!parameter.trainable || llvm::is_contained(ranks, stage.rank))
        continue;
      ranks.push_back(stage.rank);
      if (ranks.size() == 1)
        continue;
      double both = 2 * (link.latencySeconds +
                         parameter.getRankBytes() / link.bytesPerSecond);
      seconds[ranks.front()] += both;
      seconds[stage.rank] += both;
    }
  return *llvm::max_element(seconds);
}

/// "times measured on EPYC (gpt.json)", "costs by formula for device 'cpu'", or
/// several, each for what those before it lack.
static std::string describeCosts(const std::optional<Profile> &profile,
                                 const PlanSummary &plan,
                                 const BuildOptions &options) {
  std::vector<std::string> sources;
  if (!options.layerTimes.empty())
    sources.push_back("times in " + options.layerTimes);
  if (profile)
    sources.push_back("times measured on " + profile->device + " (" +
                      options.profile + ")");
  StringRef formula = pp::stringifyCostSource(pp::CostSource::Formula);
  if (llvm::any_of(plan.stages, [&](const StageSummary &stage) {
        return stage.costSource == formula;
      }))
    sources.push_back("costs by formula for device '" + options.device + "'");
  return llvm::join(sources, ", what is not there from ");
}

FailureOr<std::optional<Profile>>
pipewright::loadProfile(const BuildOptions &options, MLIRContext &context) {
  if (options.profile.empty())
    return std::optional<Profile>();
  llvm::Expected<Profile> profile = readProfile(options.profile);
  if (profile)
    return std::optional<Profile>(std::move(*profile));
  return emitError(UnknownLoc::get(&context))
         << llvm::toString(profile.takeError());
}

FailureOr<StepModel> pipewright::readStepModel(ModuleOp module,
                                               const PlanSummary &plan) {
  FailureOr<StageGraph> graph = StageGraph::get(module);
  if (failed(graph))
    return failure();
  FailureOr<ProgramSchedule> programs = readPrograms(
      module, *graph,
      plan.forwardOnly ? pp::ProgramKind::Eval : pp::ProgramKind::Step);
  if (failed(programs))
    return failure();
  StepModel model{std::move(programs->schedule), getCosts(plan),
                  /*updateSeconds=*/0, plan.microbatchSize * plan.replicas};
  addParts(*graph, model.costs);
  return model;
}

FailureOr<StepModel> pipewright::makeStepModel(
    ModuleOp module, const PlanSummary &plan, const BuildOptions &options,
    const std::optional<Profile> &profile, PredictedMachine &machine) {
  FailureOr<StepModel> model = readStepModel(module, plan);
  if (failed(model))
    return failure();
  auto refuse = [&](llvm::Error error) -> LogicalResult {
    return emitError(UnknownLoc::get(module.getContext()))
           << llvm::toString(std::move(error));
  };
  const MeasuredLink *link = profile ? profile->getTypicalLink() : nullptr;
  if (!plan.forwardOnly) {
    llvm::Expected<double> update =
        getUpdateSeconds(options, plan, profile, pp::countCopies(module));
    if (!update)
      return refuse(update.takeError());
    machine.updateSeconds = *update;
    if (link)
      machine.updateSeconds += getExchangeSeconds(*link, plan);
  }
  model->updateSeconds = machine.updateSeconds;
  if (!options.topology.empty()) {
    llvm::Expected<PlacementSummary> placement =
        placeOnTopology(options, model->schedule, model->costs);
    if (!placement)
      return refuse(placement.takeError());
    machine.placement = std::move(*placement);
  } else if (link) {
    machine.latencySeconds = link->latencySeconds;
    machine.bytesPerSecond = link->bytesPerSecond;
    addLink(machine, model->costs);
  }
  return model;
}

FailureOr<PredictedStep>
pipewright::predictStep(ModuleOp module, const PlanSummary &plan,
                        const BuildOptions &options,
                        const std::optional<Profile> &profile, bool draws) {
  PredictedStep step;
  FailureOr<StepModel> model =
      makeStepModel(module, plan, options, profile, step.machine);
  if (failed(model))
    return failure();
  Timeline timeline = simulate(model->schedule, model->costs);
  Metrics metrics = measure(model->schedule, timeline);
  step.makespan = metrics.makespan + model->updateSeconds;
  step.bubbleRatio = metrics.bubbleRatio;
  step.costs = describeCosts(profile, plan, options);
  llvm::raw_string_ostream stream(step.timeline);
  if (draws)
    writeSvg(model->schedule, timeline, stream, /*secondsPerUnit=*/1);
  return step;
}
