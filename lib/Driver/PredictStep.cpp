//===- PredictStep.cpp - How long a step of a plan will take
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PredictStep.h"

#include "pipewright/Driver/AddTopology.h"

#include "pipewright/Schedule/Formats.h"
#include "pipewright/Schedule/ProgramSchedule.h"

#include "mlir/IR/Diagnostics.h"

#include <numeric>

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

void pipewright::addLink(const PredictedMachine &machine, CostModel &costs) {
  costs.latency = machine.latencySeconds;
  costs.machine.bandwidth = machine.bytesPerSecond;
}

/// The time in which the slowest rank updates its parameters; they are there
/// once all ranks are done.
static double getUpdateSeconds(const Profile &profile,
                               const PlanSummary &plan) {
  std::vector<int64_t> counts(plan.ranks);
  for (const StageSummary &stage : plan.stages)
    for (const ParameterSummary &parameter : stage.parameters)
      if (parameter.trainable)
        counts[stage.rank] +=
            std::accumulate(parameter.shape.begin(), parameter.shape.end(),
                            int64_t(1), std::multiplies<>());
  for (const MeasuredUpdate &update : profile.updates)
    if (update.optimizer == plan.optimizer)
      return update.getSeconds(*llvm::max_element(counts));
  return 0;
}

/// "times measured on EPYC (gpt.json)", "costs by formula for device 'cpu'".
static std::string describeCosts(const std::optional<Profile> &profile,
                                 const PlanSummary &plan,
                                 const BuildOptions &options) {
  std::string formula = "costs by formula for device '" + options.device + "'";
  if (!profile)
    return formula;
  std::string text =
      "times measured on " + profile->device + " (" + options.profile + ")";
  bool isWhole = llvm::all_of(plan.stages, [](const StageSummary &stage) {
    return stage.costSource == "measured";
  });
  return isWhole ? text : text + ", what it lacks from " + formula;
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
  return StepModel{std::move(programs->schedule), getCosts(plan),
                   /*updateSeconds=*/0, plan.microbatchSize};
}

FailureOr<StepModel> pipewright::makeStepModel(
    ModuleOp module, const PlanSummary &plan, const BuildOptions &options,
    const std::optional<Profile> &profile, PredictedMachine &machine) {
  FailureOr<StepModel> model = readStepModel(module, plan);
  if (failed(model))
    return failure();
  if (profile && !plan.forwardOnly)
    machine.updateSeconds = getUpdateSeconds(*profile, plan);
  model->updateSeconds = machine.updateSeconds;
  if (!options.topology.empty()) {
    llvm::Expected<PlacementSummary> placement =
        placeOnTopology(options, model->schedule, model->costs);
    if (!placement)
      return emitError(UnknownLoc::get(module.getContext()))
             << llvm::toString(placement.takeError());
    machine.placement = std::move(*placement);
  } else if (profile && !profile->links.empty()) {
    const MeasuredLink &link = profile->links.front();
    machine.latencySeconds = link.latencySeconds;
    machine.bytesPerSecond = link.bytesPerSecond;
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
