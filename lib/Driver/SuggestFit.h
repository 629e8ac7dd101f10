//===- SuggestFit.h - What would make a build fit ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DRIVER_SUGGESTFIT_H
#define PIPEWRIGHT_LIB_DRIVER_SUGGESTFIT_H

#include "pipewright/Driver/BuildOptions.h"

#include "mlir/IR/BuiltinOps.h"

namespace pipewright {

/// Tells in a remark the smallest change with which \p module, whose layers are
/// priced, would fit into the memory of \p options: to recompute, first as
/// little as does, and then also another schedule. If none does, it tells how
/// much memory the best of them needs.
void suggestFit(mlir::ModuleOp module, const BuildOptions &options);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_DRIVER_SUGGESTFIT_H
