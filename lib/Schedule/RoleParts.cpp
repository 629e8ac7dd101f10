//===- RoleParts.cpp - What layers exchange between replicas
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/RoleParts.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipewright;

/// Ends the last of \p parts with an exchange.
static void exchange(std::vector<RolePart> &parts, double time) {
  parts.back().exchange = time;
  parts.emplace_back();
}

void pipewright::addRoleParts(ArrayRef<LayerCost> layers, bool hasWeightTask,
                              StageCost &cost) {
  if (none_of(layers, [](const LayerCost &layer) { return layer.exchanges; }))
    return;
  cost.hasWeightTask = hasWeightTask;
  cost.forwardParts.emplace_back();
  for (const LayerCost &layer : layers) {
    if (layer.exchanges)
      exchange(cost.forwardParts, layer.exchange);
    cost.forwardParts.back().compute += layer.forward;
  }
  cost.backwardParts.emplace_back();
  for (const LayerCost &layer : reverse(layers)) {
    cost.backwardParts.back().compute +=
        layer.inputGradient + (hasWeightTask ? 0 : layer.weightGradient);
    if (layer.exchanges)
      exchange(cost.backwardParts, layer.gradientExchange);
  }
}
