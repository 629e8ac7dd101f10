//===- MatMul.cpp - Verifier of contractions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace pipewright::nn;

LogicalResult MatMulOp::verify() {
  if (failed(verifySumType(*this, getLhs(), getResult())))
    return failure();

  ArrayRef<int64_t> lhs = getShape(getLhs()), rhs = getShape(getRhs());
  if (lhs.size() != rhs.size() || lhs.size() < 2)
    return emitOpError("has operands of ranks ")
           << lhs.size() << " and " << rhs.size()
           << "; both must have one rank, at least 2";

  ArrayRef<int64_t> batch = lhs.drop_back(2);
  if (batch != rhs.drop_back(2))
    return emitOpError("has batch dimensions ")
           << formatShape(batch) << " and " << formatShape(rhs.drop_back(2))
           << "; they must be equal";

  ArrayRef<int64_t> left = lhs.take_back(2), right = rhs.take_back(2);
  int64_t rows = left[getTransposeLhs() ? 1 : 0];
  int64_t lhsDepth = left[getTransposeLhs() ? 0 : 1];
  int64_t rhsDepth = right[getTransposeRhs() ? 1 : 0];
  int64_t columns = right[getTransposeRhs() ? 0 : 1];
  if (lhsDepth != rhsDepth)
    return emitOpError("contracts ") << lhsDepth << " with " << rhsDepth;

  SmallVector<int64_t> expected(batch);
  expected.append({rows, columns});
  return verifyShape(*this, "result", getResult(), expected);
}
