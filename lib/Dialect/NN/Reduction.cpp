//===- Reduction.cpp - Verifiers and folders of reductions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace pipewright::nn;

LogicalResult ReduceOp::verify() {
  ArrayRef<int64_t> shape = getShape(getOperand());
  if (failed(verifyAxes(*this, getAxes(), shape.size())))
    return failure();
  if (getKind() == Reduction::Mean &&
      !isa<FloatType>(getType().getElementType()))
    return emitOpError("takes the mean of integers; cast them first");

  SmallVector<int64_t> expected;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(getAxes(), static_cast<int64_t>(axis)))
      expected.push_back(size);
  return verifyShape(*this, "result", getResult(), expected);
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  if (getAxes().empty())
    return getOperand();
  return {};
}

LogicalResult CumulativeSumOp::verify() {
  return verifyAxis(*this, getAxis(), getRank(getOperand()));
}

LogicalResult TopKOp::verify() {
  ArrayRef<int64_t> shape = getShape(getOperand()),
                    wanted = getShape(getResult());
  if (failed(verifyAxis(*this, getAxis(), shape.size())))
    return failure();
  SmallVector<int64_t> expected(shape);
  if (wanted.size() == shape.size())
    expected[getAxis()] = std::min(wanted[getAxis()], shape[getAxis()]);
  return verifyShape(*this, "result", getResult(), expected);
}
