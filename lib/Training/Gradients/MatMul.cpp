//===- MatMul.cpp - Gradients of contractions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

using namespace mlir;

namespace pipewright {

// With A = op(lhs) and B = op(rhs), where op transposes or not:
// dA = dy B^T and dB = A^T dy. A transposed operand has the transposed
// gradient: dlhs = (dy B^T)^T = B dy^T. All are products of the same values
// with other flags.

// Where the product is wider than its operands, dy is rounded to their type.

static Value matmulLhsGradient(nn::MatMulOp op, Value dy, GradientBuilder &b) {
  Value rhs = op.getRhs();
  Type type = op.getLhs().getType();
  dy = b.castTo(dy, getElementTypeOrSelf(type));
  if (op.getTransposeLhs())
    return b.matmul(rhs, op.getTransposeRhs(), dy, true, type);
  return b.matmul(dy, false, rhs, !op.getTransposeRhs(), type);
}

static Value matmulRhsGradient(nn::MatMulOp op, Value dy, GradientBuilder &b) {
  Value lhs = op.getLhs();
  Type type = op.getRhs().getType();
  dy = b.castTo(dy, getElementTypeOrSelf(type));
  if (op.getTransposeRhs())
    return b.matmul(dy, true, lhs, op.getTransposeLhs(), type);
  return b.matmul(lhs, !op.getTransposeLhs(), dy, false, type);
}

void registerMatMul(GradientRegistry &registry) {
  registry.add<nn::MatMulOp>(0, matmulLhsGradient);
  registry.add<nn::MatMulOp>(1, matmulRhsGradient);
}

} // namespace pipewright
