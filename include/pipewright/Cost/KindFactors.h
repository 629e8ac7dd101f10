//===- KindFactors.h - How much slower devices are --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_KINDFACTORS_H
#define PIPEWRIGHT_COST_KINDFACTORS_H

#include "pipewright/Cost/Topology.h"

#include "mlir/IR/BuiltinOps.h"

namespace pipewright {

/// Per kind of device of \p topology, how many times longer than on \p base a
/// micro-batch takes in all layers of \p module, by formula. Requires outlined
/// layers; one number stands for all of them.
std::vector<double> getKindFactors(mlir::ModuleOp module,
                                   const Topology &topology,
                                   const Device &base);

} // namespace pipewright

#endif // PIPEWRIGHT_COST_KINDFACTORS_H
