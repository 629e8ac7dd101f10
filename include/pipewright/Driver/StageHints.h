//===- StageHints.h - Stages that the model asks for ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_STAGEHINTS_H
#define PIPEWRIGHT_DRIVER_STAGEHINTS_H

#include "pipewright/Driver/BuildOptions.h"

#include "mlir/IR/BuiltinOps.h"

namespace pipewright {

/// Has stages begin where the nodes of the model ask for it, if \p options
/// leave that to them: a layer is on the stage of the first of its nodes that
/// names one, or else on that of the layer before it.
///
/// Hints for another number of stages than the build has, and those that go
/// back to an earlier stage, are told about in a remark and not followed; with
/// the balance `hints` they are an error, as is a model without any.
mlir::LogicalResult followStageHints(mlir::ModuleOp module,
                                     BuildOptions &options);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_STAGEHINTS_H
