//===- StepModel.h - What a step of a plan is simulated from ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_STEPMODEL_H
#define PIPEWRIGHT_DRIVER_STEPMODEL_H

#include "pipewright/Schedule/RankPlacement.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"

namespace pipewright {

/// A plan as its simulation sees it.
struct StepModel {
  Schedule schedule;
  /// In seconds.
  CostModel costs;
  /// Of the slowest rank, once all else is done.
  double updateSeconds = 0;
  /// Of the micro-batch of one number of all pipelines.
  int64_t samples = 1;
};

/// Reads the plan of the build in \p directory, and the topology that it was
/// made for. What is wrong is a diagnostic.
mlir::FailureOr<StepModel> readBuiltStep(llvm::StringRef directory,
                                         mlir::MLIRContext &context);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_STEPMODEL_H
