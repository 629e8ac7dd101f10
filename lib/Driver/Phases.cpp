//===- Phases.cpp - The phases of a build, in order
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/Phases.h"

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Codegen/Target.h"
#include "pipewright/Comm/Passes.h"
#include "pipewright/Cost/Passes.h"
#include "pipewright/Import/Passes.h"
#include "pipewright/Layers/Passes.h"
#include "pipewright/Program/Passes.h"
#include "pipewright/Remat/Passes.h"
#include "pipewright/Schedule/Passes.h"
#include "pipewright/Stages/Passes.h"
#include "pipewright/Training/Passes.h"

#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace pipewright;

static void addImportPasses(OpPassManager &pm, const BuildOptions &options) {
  // Exporters spell shape arithmetic and masks out: what is known is folded,
  // and what is never used goes.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createFold());
  pm.addPass(createCSEPass());
  // One op for a spelled-out norm or activation: cheaper, and with a better
  // gradient.
  pm.addPass(createRaisePatterns());
  pm.addPass(createCanonicalizerPass());
}

static void addLayersPasses(OpPassManager &pm, const BuildOptions &options) {
  pm.addPass(createFormLayers());
  pm.addPass(createOutlineLayers());
  if (options.peers > 1)
    pm.addPass(createShardExperts(
        {options.peers, options.expertCapacity.value_or(0)}));
  pm.addPass(createVerifyLayers());
}

static void addTrainingPasses(OpPassManager &pm, const BuildOptions &options) {
  if (!options.forwardOnly)
    pm.addPass(createAttachLoss({options.loss, options.ignoreIndex}));
  // Needs to know whether there is a loss; gradients follow from the types.
  pm.addPass(createSetPrecision({options.precision}));
  // What a library computes is differentiated for it.
  if (options.libraryAttention)
    pm.addPass(createKeepAttentionStatistics({options.target}));
  if (options.forwardOnly)
    return;
  pm.addPass(createDifferentiate({options.train, options.freeze}));
  // Needs to know which parameters have a gradient.
  pm.addPass(createAttachOptimizer({options.optimizer}));
  pm.addPass(createVerifyTraining());
}

static void addCostPasses(OpPassManager &pm, const BuildOptions &options) {
  AnnotateCostsOptions costs;
  costs.deviceName = options.device;
  costs.profileFile = options.profile;
  costs.layerTimesFile = options.layerTimes;
  if (options.peers > 1) {
    costs.topologyFile = options.topology;
    costs.ranks = options.ranks;
    costs.capacity = options.expertCapacity.value_or(0);
  }
  pm.addPass(createAnnotateCosts(costs));
}

std::unique_ptr<Pass> pipewright::createBalance(const BuildOptions &options) {
  BalanceStagesOptions balance;
  balance.ranks = options.ranks;
  balance.chunks = options.chunks;
  balance.balance = llvm::StringSwitch<Balance>(options.balance)
                        .Case("params", Balance::Params)
                        .Case("flops", Balance::Flops)
                        .Case("uniform", Balance::Uniform)
                        .Default(Balance::Time);
  const Placement &placement = options.needs.placement;
  if (!placement.empty())
    balance.placement.assign(placement.front().begin(),
                             placement.front().end());
  if (placement.size() > 1)
    balance.reversePlacement.assign(placement.back().begin(),
                                    placement.back().end());
  balance.splitAt.assign(options.splitAt.begin(), options.splitAt.end());
  balance.sizes.assign(options.needs.stageSizes.begin(),
                       options.needs.stageSizes.end());
  return createBalanceStages(balance);
}

std::unique_ptr<Pass>
pipewright::createRematChoice(const BuildOptions &options) {
  ChooseRematOptions choice;
  choice.layers.assign(options.needs.layerRemats.begin(),
                       options.needs.layerRemats.end());
  if (choice.layers.empty())
    choice.policy = llvm::StringSwitch<pp::RematPolicy>(options.remat)
                        .Case("selective", pp::RematPolicy::Selective)
                        .Case("full", pp::RematPolicy::Full)
                        .Default(pp::RematPolicy::None);
  return createChooseRemat(std::move(choice));
}

static void addStagesPasses(OpPassManager &pm, const BuildOptions &options) {
  // What is recomputed is a part of what a stage costs.
  pm.addPass(createRematChoice(options));
  pm.addPass(createBalance(options));
  pm.addPass(createOutlineStages({options.needs.splitsBackward
                                      ? BackwardForm::Split
                                      : BackwardForm::Fused}));
  pm.addPass(createVerifyStages());
}

static void addCommPasses(OpPassManager &pm, const BuildOptions &options) {
  pm.addPass(createInsertTransfers());
  if (options.needs.placement.size() > 1)
    pm.addPass(createInsertAllReduce());
  pm.addPass(createVerifyComm());
}

static void addRematPasses(OpPassManager &pm, const BuildOptions &options) {
  pm.addPass(createApplyRemat());
  pm.addPass(createVerifyRemat());
}

static void addSchedulePasses(OpPassManager &pm, const BuildOptions &options) {
  AttachScheduleOptions attach;
  attach.schedule = options.schedule;
  attach.microbatches = options.microbatches;
  attach.replicas = options.replicas;
  attach.memory = options.memory;
  pm.addPass(createAttachSchedule(attach));
  pm.addPass(createCheckSchedule());
}

static void addProgramPasses(OpPassManager &pm, const BuildOptions &options) {
  // The schedule says when values are made; this, when they move.
  pm.addPass(createOrderMessages());
  if (options.replicas > 1)
    pm.addPass(createInsertReductions());
  pm.addPass(createRollPrograms());
  // The proof is about what will really run.
  pm.addPass(createCheckSchedule());
  pm.addPass(createCheckComm());
  pm.addPass(createCheckGradients());
  // Tasks' scratch memory is part of the arena.
  pm.addPass(
      createAnnotateWorkspaces({options.target, options.processor,
                                options.libraryConvolutions.value_or(true)}));
  const CodegenTarget *target = TargetRegistry::get().find(options.target);
  pm.addPass(createPlanArena(
      {options.memory, target && target->keepsMessagesApart()}));
  // Last, because micro-batches that share memory may overwrite each other.
  pm.addPass(createCheckEquivalence());
}

llvm::ArrayRef<PhaseInfo> pipewright::getPhases() {
  static constexpr PhaseInfo phases[] = {
      {1, "Import", addImportPasses},     {2, "Layers", addLayersPasses},
      {3, "Training", addTrainingPasses}, {4, "Cost", addCostPasses},
      {5, "Stages", addStagesPasses},     {6, "Comm", addCommPasses},
      {7, "Remat", addRematPasses},       {8, "Schedule", addSchedulePasses},
      {9, "Program", addProgramPasses},
  };
  return phases;
}

llvm::ArrayRef<PhaseInfo> pipewright::getPhasesBefore(StringRef name) {
  return getPhases().take_until(
      [=](const PhaseInfo &phase) { return phase.name == name; });
}

llvm::ArrayRef<PhaseInfo> pipewright::getPhasesFrom(StringRef name) {
  return getPhases().drop_front(getPhasesBefore(name).size());
}

LogicalResult pipewright::runAll(llvm::ArrayRef<PhaseInfo> phases,
                                 ModuleOp module, const BuildOptions &options) {
  PassManager pm(module.getContext());
  for (const PhaseInfo &phase : phases)
    phase.build(pm, options);
  return pm.run(module);
}

std::string pipewright::getPipelineText(const BuildOptions &options) {
  OpPassManager pm(ModuleOp::getOperationName());
  for (const PhaseInfo &phase : getPhases())
    phase.build(pm, options);
  std::string text;
  llvm::raw_string_ostream stream(text);
  pm.printAsTextualPipeline(stream);
  return text;
}
