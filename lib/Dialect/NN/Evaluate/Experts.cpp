//===- Experts.cpp - What products by expert compute
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

namespace pipewright::nn {
void registerExperts(EvaluatorRegistry &registry) {
  registry.add<ExpertMatMulOp>(evaluateExpertMatMul);
  registry.add<ExpertOuterOp>(evaluateExpertOuter);
}
} // namespace pipewright::nn
