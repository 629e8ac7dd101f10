//===- Loss.cpp - Gradients of losses
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

using namespace mlir;

namespace pipewright {

void registerLoss(GradientRegistry &registry) {
  // The weight counts labels: only the sum depends on the logits.
  registry.add<nn::CrossEntropyOp>(
      0,
      [](nn::CrossEntropyOp op, ArrayRef<Value> cotangents,
         GradientBuilder &b) -> Value {
        if (!cotangents[0])
          return {};
        return b.create<nn::CrossEntropyGradOp>(
            op.getLogits().getType(), cotangents[0], op.getLogits(),
            op.getLabels(), op.getIgnoreIndex());
      });
  registry.addConstant<nn::CrossEntropyOp>({1});
  // Made by differentiation, which is done once.
  registry.addConstant<nn::CrossEntropyGradOp>({0, 1, 2});
}

} // namespace pipewright
