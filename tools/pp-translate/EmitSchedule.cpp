//===- EmitSchedule.cpp - pp-translate --emit-schedule-json and others
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translations.h"

#include "pipewright/Driver/Registration.h"
#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Formats.h"
#include "pipewright/Schedule/ProgramSchedule.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;
using namespace pipewright;

using Writer = void(const Schedule &, const Timeline &, llvm::raw_ostream &);

namespace {
/// The schedule of a module's programs and the times of its stages.
struct TimedSchedule {
  Schedule schedule;
  CostModel costs;
};
} // namespace

/// A schedule without its updates: the formats say what is computed.
static Schedule dropUpdates(const Schedule &schedule) {
  Schedule result = schedule;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    std::vector<Action> actions = schedule.getActions(rank).vec();
    llvm::erase_if(actions, [](const Action &action) {
      return action.kind == ActionKind::Step;
    });
    result.setActions(rank, std::move(actions));
  }
  return result;
}

/// Reads the step programs, or the eval programs if nothing is trained. Only a
/// schedule that can run has times.
static FailureOr<TimedSchedule> readSchedule(ModuleOp module) {
  FailureOr<StageGraph> graph = StageGraph::get(module);
  if (failed(graph))
    return failure();
  bool isTraining = graph->hasBackward();
  FailureOr<ProgramSchedule> programs =
      readPrograms(module, *graph,
                   isTraining ? pp::ProgramKind::Step : pp::ProgramKind::Eval);
  if (failed(programs))
    return failure();
  CheckOptions options;
  options.roles = graph->getRoles();
  if (!isTraining)
    options.roles.assign(graph->getStages(), {ActionKind::F});
  std::vector<Violation> violations =
      checkSchedule(programs->schedule, options);
  if (!violations.empty())
    return module.emitError("the schedule is not valid\n")
           << toString(violations);
  return TimedSchedule{dropUpdates(programs->schedule), graph->getCosts()};
}

static LogicalResult emitSchedule(ModuleOp module, llvm::raw_ostream &os,
                                  Writer *write) {
  FailureOr<TimedSchedule> timed = readSchedule(module);
  if (failed(timed))
    return failure();
  write(timed->schedule, simulate(timed->schedule, timed->costs), os);
  return success();
}

static LogicalResult emitCsv(ModuleOp module, llvm::raw_ostream &os) {
  FailureOr<TimedSchedule> timed = readSchedule(module);
  if (failed(timed))
    return failure();
  if (llvm::Error error = writeCsv(timed->schedule, os))
    return module.emitError() << toString(std::move(error));
  return success();
}

void pipewright::registerEmitSchedule() {
  static TranslateFromMLIRRegistration json(
      "emit-schedule-json", "write the programs' schedule as JSON",
      [](ModuleOp module, llvm::raw_ostream &os) {
        return emitSchedule(module, os, writeJson);
      },
      registerDialects);
  static TranslateFromMLIRRegistration csv(
      "emit-schedule-csv",
      "write the programs' schedule in PyTorch's pipelining format", emitCsv,
      registerDialects);
  static TranslateFromMLIRRegistration svg(
      "emit-svg", "draw the programs' timeline",
      [](ModuleOp module, llvm::raw_ostream &os) {
        return emitSchedule(
            module, os,
            [](const Schedule &schedule, const Timeline &timeline,
               llvm::raw_ostream &os) { writeSvg(schedule, timeline, os); });
      },
      registerDialects);
  static TranslateFromMLIRRegistration trace(
      "emit-trace", "write the programs' timeline in Chrome's trace format",
      [](ModuleOp module, llvm::raw_ostream &os) {
        return emitSchedule(module, os, writeTrace);
      },
      registerDialects);
}
