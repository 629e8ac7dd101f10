//===- AttachSchedule.cpp - Writes each rank's program
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ActivationLimit.h"

#include "pipewright/Schedule/Passes.h"
#include "pipewright/Schedule/ProgramSchedule.h"
#include "pipewright/Schedule/ScheduleFile.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include "mlir/IR/Builders.h"

namespace pipewright {
#define GEN_PASS_DEF_ATTACHSCHEDULE
#include "pipewright/Schedule/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct AttachSchedule
    : public pipewright::impl::AttachScheduleBase<AttachSchedule> {
  using AttachScheduleBase::AttachScheduleBase;

  void runOnOperation() override;

private:
  FailureOr<Schedule> makeSchedule(const StageGraph &graph);
  llvm::Expected<Schedule> readFile();
  llvm::Expected<Schedule> search(const StageGraph &graph);
  LogicalResult checkPlacement(const StageGraph &graph,
                               const Schedule &schedule);
};
} // namespace

llvm::Expected<Schedule> AttachSchedule::readFile() {
  llvm::Expected<Schedule> parsed = readScheduleFile(schedule);
  if (!parsed)
    return parsed;
  int64_t found = parsed->getShape().microbatches;
  if (found != microbatches)
    return llvm::createStringError("'" + schedule + "' has " + Twine(found) +
                                   " micro-batches, not " +
                                   Twine(microbatches.getValue()));
  return parsed;
}

/// The best schedule for the stages' costs where they are.
llvm::Expected<Schedule> AttachSchedule::search(const StageGraph &graph) {
  ScheduleRequest request(graph.getRanks(), microbatches, graph.getChunks());
  request.costs.stages = graph.getCosts().stages;
  request.placement = graph.getPlacement().front();
  request.recompute =
      llvm::any_of(graph.getRoles(), [](llvm::ArrayRef<ActionKind> roles) {
        return llvm::is_contained(roles, ActionKind::R);
      });
  if (memory > 0)
    request.memoryLimit = estimateActivationLimit(graph, memory);
  llvm::Expected<Schedule> found = buildSchedule(schedule, request);
  if (found || !request.memoryLimit)
    return found;
  // That was an estimate; the plan of the arena decides.
  llvm::consumeError(found.takeError());
  request.memoryLimit.reset();
  return buildSchedule(schedule, request);
}

FailureOr<Schedule> AttachSchedule::makeSchedule(const StageGraph &graph) {
  llvm::Expected<Schedule> built =
      isScheduleFile(schedule) ? readFile()
      : isSearch(schedule)
          ? search(graph)
          : buildSchedule(schedule,
                          {graph.getRanks(), microbatches, graph.getChunks()});
  if (!built)
    return getOperation().emitError() << toString(built.takeError());
  if (failed(checkPlacement(graph, *built)))
    return failure();
  return std::move(*built);
}

/// The stages must be on the ranks for which the schedule was made.
LogicalResult AttachSchedule::checkPlacement(const StageGraph &graph,
                                             const Schedule &made) {
  if (made.getStages() != graph.getStages())
    return getOperation().emitError("schedule '")
           << made.getName() << "' has " << made.getStages()
           << " stages; the module has " << graph.getStages();
  if (made.getDirections() != graph.getDirections())
    return getOperation().emitError("schedule '")
           << made.getName() << "' has " << made.getDirections()
           << " directions; the module has " << graph.getDirections();
  for (auto stage : getOperation().getOps<pp::StageOp>()) {
    int64_t rank = made.getRank(stage.getIndex(), stage.getDirection());
    if (rank != int64_t(stage.getRank()))
      return stage.emitOpError("is on rank ")
             << stage.getRank() << "; schedule '" << made.getName()
             << "' has stage " << stage.getIndex() << " on rank " << rank;
  }
  return success();
}

void AttachSchedule::runOnOperation() {
  ModuleOp module = getOperation();
  if (microbatches < 1) {
    module.emitError("there must be at least 1 micro-batch, not ")
        << microbatches.getValue();
    return signalPassFailure();
  }
  if (replicas < 1) {
    module.emitError("there must be at least 1 replica, not ")
        << replicas.getValue();
    return signalPassFailure();
  }
  FailureOr<StageGraph> graph = StageGraph::get(module);
  if (failed(graph))
    return signalPassFailure();
  for (int64_t stage = 0; stage < graph->getStages(); ++stage)
    if (graph->getParts(stage, pp::Role::F).empty()) {
      graph->getStage(stage).emitOpError("has no forward task");
      return signalPassFailure();
    }

  ScheduleShape shape = {graph->getRanks(), microbatches, graph->getChunks()};
  Schedule eval = buildForwardOnly(shape, {graph->getPlacement().front()});
  StringRef policy = eval.getName();
  FailureOr<Schedule> step = failure();
  if (graph->hasBackward()) {
    step = makeSchedule(*graph);
    if (failed(step))
      return signalPassFailure();
    // What a search took from the registry is known by that name.
    policy = step->getChosen().empty() || step->getChosen() == "search"
                 ? step->getName()
                 : step->getChosen();
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  pp::ScheduleOp::create(builder, module.getLoc(), policy, shape.ranks,
                         shape.microbatches, shape.chunks, replicas);
  if (succeeded(step) &&
      failed(writePrograms(module, *graph, *step, pp::ProgramKind::Step)))
    return signalPassFailure();
  if (failed(writePrograms(module, *graph, eval, pp::ProgramKind::Eval)))
    return signalPassFailure();
  pp::setPhase(module, pp::Phase::Schedule);
}
