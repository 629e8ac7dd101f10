//===- Experts.cpp - What products by expert and moves of rows compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorRegistry.h"
#include "Indexing.h"

using namespace mlir;
using namespace pipewright::nn;

/// Calls `visit(row, expert)` for each row whose number names an expert.
template <typename Visitor>
static void forEachNamedRow(ArrayRef<int64_t> experts, int64_t expertCount,
                            Visitor visit) {
  for (auto [row, number] : llvm::enumerate(experts))
    if (number >= -expertCount && number < expertCount)
      visit(row, number < 0 ? number + expertCount : number);
}

static void evaluateExpertMatMul(ExpertMatMulOp op,
                                 ArrayRef<HostTensor> operands,
                                 HostTensor &result) {
  ArrayRef<double> rows = operands[0].getFloats();
  ArrayRef<double> weights = operands[1].getFloats();
  MutableArrayRef<double> sums = result.getFloats();
  int64_t depth = operands[0].getShape()[1], columns = result.getShape()[1];
  bool transposed = op.getTransposeWeights();
  auto multiply = [&](int64_t row, int64_t expert) {
    ArrayRef<double> matrix =
        weights.slice(expert * depth * columns, depth * columns);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t k = 0; k < depth; ++k)
        sums[row * columns + j] +=
            rows[row * depth + k] *
            matrix[transposed ? j * depth + k : k * columns + j];
  };
  forEachNamedRow(operands[2].getIntegers(), operands[1].getShape()[0],
                  multiply);
}

static void evaluateExpertOuter(ExpertOuterOp, ArrayRef<HostTensor> operands,
                                HostTensor &result) {
  ArrayRef<double> lhs = operands[0].getFloats();
  ArrayRef<double> rhs = operands[1].getFloats();
  MutableArrayRef<double> sums = result.getFloats();
  ArrayRef<int64_t> shape = result.getShape();
  int64_t m = shape[1], n = shape[2];
  auto add = [&](int64_t row, int64_t expert) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        sums[(expert * m + i) * n + j] += lhs[row * m + i] * rhs[row * n + j];
  };
  forEachNamedRow(operands[2].getIntegers(), shape[0], add);
}

static void evaluatePermuteRows(PermuteRowsOp, ArrayRef<HostTensor> operands,
                                HostTensor &result) {
  AxisView rows(operands[0].getShape(), 0), places(result.getShape(), 0);
  for (auto [place, row] : llvm::enumerate(operands[1].getIntegers()))
    if (row >= 0 && row < rows.size)
      for (int64_t k = 0; k < rows.inner; ++k)
        result.setElement(places.position(0, place, k), operands[0],
                          rows.position(0, row, k));
}

static void evaluateInvertIndices(InvertIndicesOp,
                                  ArrayRef<HostTensor> operands,
                                  HostTensor &result) {
  MutableArrayRef<int64_t> inverse = result.getIntegers();
  llvm::fill(inverse, -1);
  for (auto [i, place] : llvm::enumerate(operands[0].getIntegers()))
    if (place >= 0 && place < result.getNumElements())
      inverse[place] = i;
}

namespace pipewright::nn {
void registerExperts(EvaluatorRegistry &registry) {
  registry.add<ExpertMatMulOp>(evaluateExpertMatMul);
  registry.add<ExpertOuterOp>(evaluateExpertOuter);
  registry.add<PermuteRowsOp>(evaluatePermuteRows);
  registry.add<InvertIndicesOp>(evaluateInvertIndices);
}
} // namespace pipewright::nn
