//===- AddTopology.h - What a topology says of the ranks --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_ADDTOPOLOGY_H
#define PIPEWRIGHT_DRIVER_ADDTOPOLOGY_H

#include "pipewright/Driver/BuildOptions.h"
#include "pipewright/Package/PredictedStep.h"

#include "mlir/IR/BuiltinOps.h"

namespace pipewright {

/// Fills in BuildOptions::devices if \p options name a topology. \p module has
/// priced layers, and the schedule's placement is known.
///
/// Where devices differ, how the layers are cut depends on the ranks' devices:
/// these are chosen here, for messages that are all as large as the largest
/// that a layer passes on.
mlir::LogicalResult addTopology(mlir::ModuleOp module, BuildOptions &options);

/// Has the ranks of \p schedule, whose \p costs are in seconds, compute and
/// send as the topology of \p options says, which addTopology completed: on the
/// devices that they have already, or else on the best ones for the stages'
/// messages. Refuses more ranks than devices.
llvm::Expected<PlacementSummary> placeOnTopology(const BuildOptions &options,
                                                 const Schedule &schedule,
                                                 CostModel &costs);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_ADDTOPOLOGY_H
