//===- Normalization.cpp - Verifiers of softmax and norms
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace pipewright::nn;

LogicalResult SoftmaxOp::verify() {
  return verifyAxis(*this, getAxis(), getRank(getOperand()));
}

LogicalResult LogSoftmaxOp::verify() {
  return verifyAxis(*this, getAxis(), getRank(getOperand()));
}

LogicalResult SoftmaxGradOp::verify() {
  return verifyAxis(*this, getAxis(), getRank(getSoftmax()));
}

/// Checks the axis of a norm, and that each of \p perColumn has the shape of a
/// row and each of \p perRow the shape of the axes before it. Values that are
/// absent are null.
template <typename OpTy>
static LogicalResult verifyRows(OpTy op,
                                ArrayRef<std::pair<StringRef, Value>> perColumn,
                                ArrayRef<std::pair<StringRef, Value>> perRow) {
  ArrayRef<int64_t> shape = getShape(op.getOperand());
  if (failed(verifyAxis(op, op.getAxis(), shape.size())))
    return failure();
  for (auto [name, value] : perColumn)
    if (value &&
        failed(verifyShape(op, name, value, shape.drop_front(op.getAxis()))))
      return failure();
  for (auto [name, value] : perRow)
    if (failed(verifyShape(op, name, value, shape.take_front(op.getAxis()))))
      return failure();
  return verifyShape(op, "result", op.getResult(), shape);
}

template <typename OpTy>
static LogicalResult verifyEpsilon(OpTy op) {
  double epsilon = op.getEpsilon().convertToDouble();
  if (epsilon >= 0)
    return success();
  return op.emitOpError("has epsilon ")
         << epsilon << "; it must not be negative";
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyEpsilon(*this)))
    return failure();
  return verifyRows(
      *this, {{"scale", getScale()}, {"bias", getBias()}},
      {{"mean", getMean()}, {"inverse deviation", getInverseDeviation()}});
}

LogicalResult LayerNormGradOp::verify() {
  if (failed(verifyShape(*this, "cotangent", getCotangent(),
                         getShape(getOperand()))))
    return failure();
  return verifyRows(
      *this, {{"scale", getScale()}},
      {{"mean", getMean()}, {"inverse deviation", getInverseDeviation()}});
}

LogicalResult RMSNormOp::verify() {
  if (failed(verifyEpsilon(*this)))
    return failure();
  return verifyRows(*this, {{"scale", getScale()}},
                    {{"inverse deviation", getInverseDeviation()}});
}
