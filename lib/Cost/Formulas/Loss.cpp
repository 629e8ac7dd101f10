//===- Loss.cpp - Work of losses
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

// Maximum, difference, exponential (10) and sum, per logit.
static Work priceCrossEntropy(nn::CrossEntropyOp op) {
  return streamOperands(op, 13 * countElements(op.getLogits()));
}

namespace pipewright {
void registerLoss(FormulaRegistry &registry) {
  registry.add(priceCrossEntropy);
  // As above, then a division and a product.
  registry.addPerResultElement<nn::CrossEntropyGradOp>(15);
}
} // namespace pipewright
