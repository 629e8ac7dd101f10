//===- ProgramSchedule.h - Rank programs as a plain schedule ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_PROGRAMSCHEDULE_H
#define PIPEWRIGHT_SCHEDULE_PROGRAMSCHEDULE_H

#include "pipewright/Schedule/StageGraph.h"
#include "pipewright/Schedule/TaskGraph.h"

#include "mlir/IR/OwningOpRef.h"

namespace pipewright {

/// What the ranks' programs run, without their transfers. Programs count the
/// micro-batches of a step, a schedule those of a direction. Eval programs have
/// direction 0 only. A `pp.overlap` is a pair FB, in which a B with its W is
/// the full backward BW; one of a single branch is the action whose parts it
/// runs.
struct ProgramSchedule {
  Schedule schedule;
  /// Per rank, its program and the op of each action.
  std::vector<pp::ProgramOp> programs;
  std::vector<std::vector<mlir::Operation *>> ops;
};

/// Calls \p function with each `pp.run` of \p op, which stands for \p action in
/// a ProgramSchedule, and the action, or the part of a pair, that it is for.
void forEachRun(mlir::Operation *op, const Action &action,
                llvm::function_ref<void(pp::RunOp, const Action &)> function);

/// Writes a `pp.run` of \p task and, behind it, the exchanges of what it sends.
void writeRun(mlir::OpBuilder &builder, mlir::Location loc, pp::TaskOp task,
              int64_t microbatch);

/// The schedule that the programs of \p kind follow; \p module must have a
/// `pp.schedule` and one such program per rank, or an error is emitted.
mlir::FailureOr<ProgramSchedule> readPrograms(mlir::ModuleOp module,
                                              const StageGraph &graph,
                                              pp::ProgramKind kind);

/// The tasks of \p programs with the times of \p costs, joined by the module's
/// channels: value c * micro-batches + k is channel c for micro-batch k. With
/// it, placeMessages orders the programs' sends and receives.
TaskGraph buildTaskGraph(const ProgramSchedule &programs,
                         const StageGraph &graph, const CostModel &costs);

/// Adds to \p module one program of \p kind per rank, which runs the tasks of
/// \p graph by \p schedule: each channel is received right before the first
/// task that reads it and sent right after the one that makes it. Emits an
/// error and fails if the schedule asks for tasks that the stages do not have.
mlir::LogicalResult writePrograms(mlir::ModuleOp module,
                                  const StageGraph &graph,
                                  const Schedule &schedule,
                                  pp::ProgramKind kind);

/// A module that runs \p schedule, of one or two directions, on stages without
/// a model: each passes one number on. With it a schedule can be read, checked
/// and rolled as programs are.
mlir::OwningOpRef<mlir::ModuleOp>
buildSkeletonModule(const Schedule &schedule, mlir::MLIRContext *context);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_PROGRAMSCHEDULE_H
