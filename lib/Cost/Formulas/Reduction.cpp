//===- Reduction.cpp - Work of reductions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

static Work priceReduce(nn::ReduceOp op) {
  return streamOperands(op, countElements(op.getOperand()));
}

/// Each line is searched once for each element that is wanted.
static Work priceTopK(nn::TopKOp op) {
  int64_t wanted = op.getType().getDimSize(op.getAxis());
  return streamOperands(op, wanted * countElements(op.getOperand()));
}

namespace pipewright {
void registerReduction(FormulaRegistry &registry) {
  registry.add(priceReduce);
  registry.add(priceTopK);
  registry.addPerResultElement<nn::CumulativeSumOp>(1);
}
} // namespace pipewright
