//===- RoleParts.h - What layers exchange between replicas ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_ROLEPARTS_H
#define PIPEWRIGHT_SCHEDULE_ROLEPARTS_H

#include "pipewright/Schedule/Simulator.h"

#include "llvm/ADT/ArrayRef.h"

namespace pipewright {

/// The times of a layer on one micro-batch, in any one unit, and of exchanges:
/// it may wait for rows from replicas, and send their gradients back.
struct LayerCost {
  double forward = 0, inputGradient = 0, weightGradient = 0;
  bool exchanges = false;
  double exchange = 0, gradientExchange = 0;
};

/// Tells the parts of the roles of a stage of \p layers, if any of these
/// exchanges rows. \p hasWeightTask: W is no part of the backward.
void addRoleParts(llvm::ArrayRef<LayerCost> layers, bool hasWeightTask,
                  StageCost &cost);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_ROLEPARTS_H
