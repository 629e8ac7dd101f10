//===- Experts.cpp - Verifiers of rows with a matrix each, and of moved rows
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace pipewright::nn;

/// Checks that \p value, which diagnostics call \p name, has rows.
static LogicalResult verifyRows(Operation *op, StringRef name, Value value) {
  if (getRank(value) == 2)
    return success();
  return op->emitOpError("has ")
         << name << " of rank " << getRank(value) << "; it must be 2";
}

/// Checks that \p value, which diagnostics call \p name, is a matrix for each
/// of some experts.
static LogicalResult verifyMatrices(Operation *op, StringRef name,
                                    Value value) {
  ArrayRef<int64_t> shape = getShape(value);
  if (shape.size() == 3 && shape.front() > 0)
    return success();
  return op->emitOpError("has ") << name << " of shape " << formatShape(shape)
                                 << "; it must be a matrix for each expert";
}

LogicalResult ExpertMatMulOp::verify() {
  if (failed(verifySumType(*this, getRows(), getResult())) ||
      failed(verifyRows(*this, "rows", getRows())) ||
      failed(verifyMatrices(*this, "weights", getWeights())))
    return failure();
  ArrayRef<int64_t> rows = getShape(getRows()),
                    weights = getShape(getWeights());
  int64_t depth = weights[getTransposeWeights() ? 2 : 1];
  int64_t columns = weights[getTransposeWeights() ? 1 : 2];
  if (rows[1] != depth)
    return emitOpError("contracts ") << rows[1] << " with " << depth;
  if (failed(verifyShape(*this, "tensor of experts", getExperts(), {rows[0]})))
    return failure();
  return verifyShape(*this, "result", getResult(), {rows[0], columns});
}

LogicalResult PermuteRowsOp::verify() {
  ArrayRef<int64_t> rows = getShape(getRows()), result = getShape(getResult());
  if (rows.empty() || result.empty() ||
      rows.drop_front() != result.drop_front())
    return emitOpError("makes rows of ")
           << formatShape(result) << " of those of " << formatShape(rows);
  if (failed(verifyShape(*this, "list of indices", getIndices(),
                         {result.front()})))
    return failure();
  return verifyShape(*this, "list of inverse indices", getInverse(),
                     {rows.front()});
}

LogicalResult InvertIndicesOp::verify() {
  for (Value list : {getIndices(), getResult()})
    if (getRank(list) != 1)
      return emitOpError("has a list of rank ")
             << getRank(list) << "; it must be 1";
  return success();
}

LogicalResult ExpertOuterOp::verify() {
  if (failed(verifySumType(*this, getLhs(), getResult())) ||
      failed(verifyRows(*this, "lhs", getLhs())) ||
      failed(verifyRows(*this, "rhs", getRhs())) ||
      failed(verifyMatrices(*this, "result", getResult())))
    return failure();
  ArrayRef<int64_t> lhs = getShape(getLhs()), rhs = getShape(getRhs());
  if (lhs[0] != rhs[0])
    return emitOpError("has ")
           << lhs[0] << " rows on the left and " << rhs[0] << " on the right";
  if (failed(verifyShape(*this, "tensor of experts", getExperts(), {lhs[0]})))
    return failure();
  return verifyShape(*this, "result", getResult(),
                     {getShape(getResult())[0], lhs[1], rhs[1]});
}
