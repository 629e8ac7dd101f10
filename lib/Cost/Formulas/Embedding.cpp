//===- Embedding.cpp - Work of look-ups and their gradients
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

/// Only the slices that are taken are read.
static Work priceGather(nn::GatherOp op) {
  int64_t bytes = pp::getBytes(op.getType());
  return {/*flops=*/0,
          /*bytesRead=*/bytes + pp::getBytes(op.getIndices().getType()),
          /*bytesWritten=*/bytes};
}

/// The zero tensor is written, then the slices that are added are read again.
static Work priceScatterAdd(nn::ScatterAddOp op) {
  int64_t updates = pp::getBytes(op.getUpdates().getType());
  return {/*flops=*/countElements(op.getUpdates()),
          /*bytesRead=*/2 * updates + pp::getBytes(op.getIndices().getType()),
          /*bytesWritten=*/pp::getBytes(op.getType()) + updates};
}

namespace pipewright {
void registerEmbedding(FormulaRegistry &registry) {
  registry.add(priceGather);
  registry.add(priceScatterAdd);
}
} // namespace pipewright
