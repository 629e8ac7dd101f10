//===- PredictStep.h - How long a step of a plan will take ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DRIVER_PREDICTSTEP_H
#define PIPEWRIGHT_LIB_DRIVER_PREDICTSTEP_H

#include "pipewright/Cost/Profile.h"
#include "pipewright/Driver/BuildOptions.h"
#include "pipewright/Driver/StepModel.h"
#include "pipewright/Package/Report.h"

#include "mlir/IR/BuiltinOps.h"

namespace pipewright {

/// The profile that \p options name, if they do.
mlir::FailureOr<std::optional<Profile>> loadProfile(const BuildOptions &options,
                                                    mlir::MLIRContext &context);

/// The programs of \p module, of which \p plan is the summary, with the stages'
/// costs, and no machine yet.
mlir::FailureOr<StepModel> readStepModel(mlir::ModuleOp module,
                                         const PlanSummary &plan);

/// Has messages take as long as \p machine says, which knows no topology.
void addLink(const PredictedMachine &machine, CostModel &costs);

/// The same with the machine, of which \p machine then tells: with a topology,
/// messages take as long as its links say, and with a profile, where there is
/// none, as that says, as do updates; else they take no time.
mlir::FailureOr<StepModel> makeStepModel(mlir::ModuleOp module,
                                         const PlanSummary &plan,
                                         const BuildOptions &options,
                                         const std::optional<Profile> &profile,
                                         PredictedMachine &machine);

/// Simulates the programs of \p module, of which \p plan is the summary, as
/// makeStepModel has them. Leaves the timeline out unless it \p draws.
mlir::FailureOr<PredictedStep>
predictStep(mlir::ModuleOp module, const PlanSummary &plan,
            const BuildOptions &options, const std::optional<Profile> &profile,
            bool draws);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_DRIVER_PREDICTSTEP_H
