//===- MatMul.cpp - Work of contractions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

/// A multiplication and an addition per result element and contracted one.
static Work priceMatMul(nn::MatMulOp op) {
  auto lhs = cast<RankedTensorType>(op.getLhs().getType());
  int64_t contracted =
      lhs.getDimSize(lhs.getRank() - (op.getTransposeLhs() ? 2 : 1));
  return streamOperands(op, 2 * contracted * countElements(op.getResult()));
}

namespace pipewright {
void registerMatMul(FormulaRegistry &registry) { registry.add(priceMatMul); }
} // namespace pipewright
