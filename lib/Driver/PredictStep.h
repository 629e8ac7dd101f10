//===- PredictStep.h - How long a step of a plan will take ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DRIVER_PREDICTSTEP_H
#define PIPEWRIGHT_LIB_DRIVER_PREDICTSTEP_H

#include "pipewright/Driver/BuildOptions.h"
#include "pipewright/Package/Report.h"

#include "mlir/IR/BuiltinOps.h"

namespace pipewright {

/// Simulates the programs of \p module, of which \p plan is the summary, with
/// the stages' costs; with a profile, messages and updates take as long as it
/// says, and no time otherwise.
mlir::FailureOr<PredictedStep> predictStep(mlir::ModuleOp module,
                                           const PlanSummary &plan,
                                           const BuildOptions &options);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_DRIVER_PREDICTSTEP_H
