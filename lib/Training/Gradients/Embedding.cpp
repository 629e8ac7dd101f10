//===- Embedding.cpp - Gradients of look-ups
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

using namespace mlir;

namespace pipewright {

void registerEmbedding(GradientRegistry &registry) {
  // Looking up and scattering are each other's transposes.
  registry.add<nn::GatherOp>(
      0, [](nn::GatherOp op, Value dy, GradientBuilder &b) -> Value {
        return b.create<nn::ScatterAddOp>(op.getTable().getType(), dy,
                                          op.getIndices(), op.getAxis());
      });
  registry.add<nn::ScatterAddOp>(
      0, [](nn::ScatterAddOp op, Value dy, GradientBuilder &b) -> Value {
        return b.create<nn::GatherOp>(op.getUpdates().getType(), dy,
                                      op.getIndices(), op.getAxis());
      });
  registry.addConstant<nn::GatherOp>({1});
  registry.addConstant<nn::ScatterAddOp>({1});
}

} // namespace pipewright
