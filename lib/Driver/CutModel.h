//===- CutModel.h - The cut of a model as options ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DRIVER_CUTMODEL_H
#define PIPEWRIGHT_LIB_DRIVER_CUTMODEL_H

#include "pipewright/Driver/BuildOptions.h"
#include "pipewright/Plan/CutSearch.h"
#include "pipewright/Stages/LayerUnits.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace pipewright {

/// The policies that `--remat POLICY` leaves: all with `auto`.
RematSet getRematSet(llvm::StringRef policy);

/// Has \p options cut the layers, and recompute them, as \p cut does.
void keepCut(const JudgedCut &cut, const LayerUnits &units,
             BuildOptions &options);

/// Completes \p options, whose schedule is resolved, for a \p module with
/// priced layers: where stages begin, if `balance` is `time` and nothing else
/// says so, and what each layer recomputes, with `remat` as `auto`: as little
/// as the memory allows. Cuts are judged by simulating the schedule.
mlir::LogicalResult cutModel(mlir::ModuleOp module, BuildOptions &options);

/// The largest arena of a plan with \p options, whatever the memory is: \p
/// module is taken through the phases from Stages on. Nothing if these fail.
std::optional<int64_t> findPeak(mlir::ModuleOp module, BuildOptions options);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_DRIVER_CUTMODEL_H
