//===- MatMul.cpp - What contractions compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorRegistry.h"
#include "Indexing.h"

using namespace mlir;
using namespace pipewright::nn;

namespace {
/// One matrix of a batch, perhaps stored with its axes swapped.
struct MatrixView {
  ArrayRef<double> elements;
  int64_t storedColumns;
  bool transposed;

  double at(int64_t row, int64_t column) const {
    return transposed ? elements[column * storedColumns + row]
                      : elements[row * storedColumns + column];
  }
};
} // namespace

static MatrixView getMatrix(const HostTensor &tensor, int64_t batch,
                            bool transposed) {
  ArrayRef<int64_t> stored = tensor.getShape().take_back(2);
  int64_t size = countElements(stored);
  return {tensor.getFloats().slice(batch * size, size), stored[1], transposed};
}

static void evaluateMatMul(MatMulOp op, ArrayRef<HostTensor> operands,
                           HostTensor &result) {
  ArrayRef<int64_t> shape = result.getShape();
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  ArrayRef<int64_t> stored = operands[0].getShape().take_back(2);
  int64_t depth = stored[op.getTransposeLhs() ? 0 : 1];

  for (int64_t b = 0, e = countElements(shape.drop_back(2)); b < e; ++b) {
    MatrixView lhs = getMatrix(operands[0], b, op.getTransposeLhs());
    MatrixView rhs = getMatrix(operands[1], b, op.getTransposeRhs());
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += lhs.at(i, k) * rhs.at(k, j);
        result.getFloats()[(b * rows + i) * columns + j] = sum;
      }
  }
}

namespace pipewright::nn {
void registerMatMul(EvaluatorRegistry &registry) {
  registry.add<MatMulOp>(evaluateMatMul);
}
} // namespace pipewright::nn
