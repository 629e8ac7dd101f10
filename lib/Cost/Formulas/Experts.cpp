//===- Experts.cpp - Work of products by expert and of moved rows
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work is that of the rows, whichever experts they have. Matrices are read
// as often as rows may need them: one a row, or all of them.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

static Work priceExpertMatMul(nn::ExpertMatMulOp op) {
  ArrayRef<int64_t> rows = op.getRows().getType().getShape();
  int64_t experts = op.getWeights().getType().getDimSize(0);
  Work work = streamOperands(op, 2 * rows[1] * countElements(op.getResult()));
  int64_t matrix = pp::getBytes(op.getWeights().getType()) / experts;
  work.bytesRead -= (experts - std::min(experts, rows[0])) * matrix;
  return work;
}

static Work priceExpertOuter(nn::ExpertOuterOp op) {
  ArrayRef<int64_t> shape = op.getResult().getType().getShape();
  return streamOperands(op, 2 * shape[2] * countElements(op.getLhs()));
}

/// A row is read once, if at all. The inverse is for the gradient alone.
static Work pricePermuteRows(nn::PermuteRowsOp op) {
  int64_t rows = pp::getBytes(op.getRows().getType());
  int64_t result = pp::getBytes(op.getType());
  return {/*flops=*/0,
          /*bytesRead=*/std::min(rows, result) +
              pp::getBytes(op.getIndices().getType()),
          /*bytesWritten=*/result};
}

/// All places are written, then those that are named again.
static Work priceInvertIndices(nn::InvertIndicesOp op) {
  int64_t indices = pp::getBytes(op.getIndices().getType());
  int64_t result = pp::getBytes(op.getType());
  return {/*flops=*/0, /*bytesRead=*/indices,
          /*bytesWritten=*/result + std::min(indices, result)};
}

namespace pipewright {
void registerExperts(FormulaRegistry &registry) {
  registry.add(priceExpertMatMul);
  registry.add(priceExpertOuter);
  registry.add(pricePermuteRows);
  registry.add(priceInvertIndices);
}
} // namespace pipewright
