//===- ResolveSchedule.h - What the schedule asks of a build ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_RESOLVESCHEDULE_H
#define PIPEWRIGHT_DRIVER_RESOLVESCHEDULE_H

#include "pipewright/Driver/BuildOptions.h"
#include "pipewright/Schedule/Simulator.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace pipewright {

/// The schedule that \p options ask for, by name or from a file, with what
/// is not given as by default; not for searches.
llvm::Expected<Schedule> makeSchedule(const BuildOptions &options);

/// Makes the schedule that \p options ask for, by name or from a file, and
/// completes the options by it: ranks, micro-batches and chunks that were not
/// given, and `needs`. Refuses a schedule that does not exist, has other
/// numbers than those given, or does not pass the checker.
///
/// An inference pipeline has one direction and its stages in loops, whatever
/// the schedule. What a search needs is left to choosePlacement.
llvm::Error resolveSchedule(BuildOptions &options);

/// The costs, in microseconds, of the stages that \p module, whose layers have
/// costs, is cut into for the placement of \p options; says why it cannot be.
mlir::FailureOr<CostModel> cutStages(mlir::ModuleOp module,
                                     const BuildOptions &options);

/// Chooses chunks and placement for a schedule that is searched: those of the
/// registered schedule that is best for the stages that \p module, whose layers
/// have costs, is cut into. The order is left to the phase Schedule. Does
/// nothing for other schedules.
void choosePlacement(mlir::ModuleOp module, BuildOptions &options);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_RESOLVESCHEDULE_H
