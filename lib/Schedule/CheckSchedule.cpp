//===- CheckSchedule.cpp - Proves that programs do all work in order
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OverlapChecker.h"

#include "pipewright/Schedule/Passes.h"
#include "pipewright/Schedule/ProgramSchedule.h"

namespace pipewright {
#define GEN_PASS_DEF_CHECKSCHEDULE
#include "pipewright/Schedule/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

/// The op behind an action, or the program if an action is missing.
static Location getLoc(const ProgramSchedule &programs, int64_t rank,
                       int64_t action) {
  if (action < 0)
    return pp::ProgramOp(programs.programs[rank]).getLoc();
  return programs.ops[rank][action]->getLoc();
}

static LogicalResult emit(const ProgramSchedule &programs,
                          ArrayRef<Violation> violations) {
  for (const Violation &violation : violations) {
    InFlightDiagnostic diag =
        emitError(getLoc(programs, violation.rank, violation.action))
        << getName(violation.rule) << ": rank " << violation.rank << ": "
        << violation.message;
    for (const Violation::Note &note : violation.notes)
      diag.attachNote(getLoc(programs, note.rank, note.action)) << note.message;
  }
  return success(violations.empty());
}

/// S3 and S7: what overlaps does not depend on each other.
static LogicalResult checkOverlaps(ModuleOp module, const StageGraph &graph) {
  bool hasFailed = false;
  for (auto program : module.getOps<pp::ProgramOp>()) {
    OverlapChecker checker(graph, Rule::S3);
    LogicalResult result = success();
    pp::walkActions(program, [&](Operation *op, int64_t microbatch) {
      if (succeeded(result))
        result = checker.visit(op, microbatch, getUnplannedPlace);
    });
    hasFailed |= failed(result);
  }
  return failure(hasFailed);
}

/// Checks the programs of \p kind.
static LogicalResult check(ModuleOp module, const StageGraph &graph,
                           pp::ProgramKind kind) {
  FailureOr<ProgramSchedule> programs = readPrograms(module, graph, kind);
  if (failed(programs))
    return failure();
  CheckOptions options;
  options.roles = graph.getRoles();
  if (kind == pp::ProgramKind::Eval)
    options.roles.assign(graph.getStages(), {ActionKind::F});
  return emit(*programs, checkSchedule(programs->schedule, options));
}

namespace {
struct CheckSchedule
    : public pipewright::impl::CheckScheduleBase<CheckSchedule> {
  void runOnOperation() override {
    FailureOr<StageGraph> graph = StageGraph::get(getOperation());
    if (failed(graph) || failed(checkOverlaps(getOperation(), *graph)))
      return signalPassFailure();
    bool hasFailed =
        graph->hasBackward() &&
        failed(check(getOperation(), *graph, pp::ProgramKind::Step));
    if (failed(check(getOperation(), *graph, pp::ProgramKind::Eval)) ||
        hasFailed)
      signalPassFailure();
  }
};
} // namespace
