//===- Experts.cpp - Gradients of products by expert and of moved rows
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

using namespace mlir;

namespace pipewright {

// As those of nn.matmul, row by row: with y_i = x_i W_e, where e is the expert
// of row i, dx_i = dy_i W_e^T and dW_e = sum_i x_i^T dy_i.

// Where the product is wider than its operands, dy is rounded to their type.

static Value rowsGradient(nn::ExpertMatMulOp op, Value dy, GradientBuilder &b) {
  Type type = op.getRows().getType();
  dy = b.castTo(dy, getElementTypeOrSelf(type));
  return b.create<nn::ExpertMatMulOp>(
      type, dy, op.getWeights(), op.getExperts(), !op.getTransposeWeights());
}

static Value weightsGradient(nn::ExpertMatMulOp op, Value dy,
                             GradientBuilder &b) {
  Type type = op.getWeights().getType();
  Value x = op.getRows();
  dy = b.castTo(dy, getElementTypeOrSelf(type));
  if (op.getTransposeWeights())
    std::swap(x, dy);
  return b.create<nn::ExpertOuterOp>(type, x, dy, op.getExperts());
}

/// With C_e = sum_i a_i^T b_i: da_i = b_i dC_e^T and db_i = a_i dC_e.
static Value outerGradient(nn::ExpertOuterOp op, Value other, Type type,
                           Value dy, bool transposed, GradientBuilder &b) {
  dy = b.castTo(dy, getElementTypeOrSelf(type));
  return b.create<nn::ExpertMatMulOp>(type, other, dy, op.getExperts(),
                                      transposed);
}

/// Each row goes back to where it came from; what came from nowhere is lost.
static Value movedBack(nn::PermuteRowsOp op, Value dy, GradientBuilder &b) {
  return b.create<nn::PermuteRowsOp>(op.getRows().getType(), dy,
                                     op.getInverse(), op.getIndices());
}

void registerExperts(GradientRegistry &registry) {
  registry.add<nn::ExpertMatMulOp>(0, rowsGradient);
  registry.add<nn::ExpertMatMulOp>(1, weightsGradient);
  registry.addConstant<nn::ExpertMatMulOp>({2});
  registry.add<nn::ExpertOuterOp>(
      0, [](nn::ExpertOuterOp op, Value dy, GradientBuilder &b) {
        return outerGradient(op, op.getRhs(), op.getLhs().getType(), dy,
                             /*transposed=*/true, b);
      });
  registry.add<nn::ExpertOuterOp>(
      1, [](nn::ExpertOuterOp op, Value dy, GradientBuilder &b) {
        return outerGradient(op, op.getLhs(), op.getRhs().getType(), dy,
                             /*transposed=*/false, b);
      });
  registry.addConstant<nn::ExpertOuterOp>({2});
  registry.add<nn::PermuteRowsOp>(0, movedBack);
  registry.addConstant<nn::PermuteRowsOp>({1, 2});
  registry.addConstant<nn::InvertIndicesOp>({0});
}

} // namespace pipewright
