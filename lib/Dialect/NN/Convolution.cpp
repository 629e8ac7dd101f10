//===- Convolution.cpp - Verifiers of sliding windows
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace pipewright::nn;

/// Checks that \p columns holds windows of \p image.
template <typename OpTy>
static LogicalResult verifyWindows(OpTy op, Value image, Value columns) {
  ArrayRef<int64_t> from = getShape(image), windows = getShape(columns);
  int64_t spatial = static_cast<int64_t>(from.size()) - 2;
  if (spatial < 1 || static_cast<int64_t>(windows.size()) != 2 + 2 * spatial)
    return op.emitOpError("has images of rank ")
           << from.size() << " and windows of rank " << windows.size()
           << "; n spatial axes make ranks n + 2 and 2 n + 2";
  if (failed(verifyPerAxis(op, "strides", op.getStrides(), spatial, 1)) ||
      failed(verifyPerAxis(op, "dilations", op.getDilations(), spatial, 1)))
    return failure();
  if (from.take_front(2) != windows.take_front(2))
    return op.emitOpError("has batch and channels ")
           << formatShape(from.take_front(2)) << " and "
           << formatShape(windows.take_front(2)) << "; they must be equal";
  for (int64_t axis = 0; axis < spatial; ++axis) {
    int64_t kernel = windows[2 + axis], positions = windows[2 + spatial + axis];
    if (kernel < 1 || positions < 1)
      continue;
    int64_t reach =
        multiplyAdd(positions - 1, op.getStrides()[axis],
                    multiplyAdd(kernel - 1, op.getDilations()[axis], 1));
    if (reach > from[2 + axis])
      return op.emitOpError("has windows that reach over ")
             << reach << " elements of spatial axis " << axis << ", which has "
             << from[2 + axis];
  }
  return success();
}

LogicalResult Im2ColOp::verify() {
  return verifyWindows(*this, getOperand(), getResult());
}

LogicalResult Col2ImOp::verify() {
  return verifyWindows(*this, getResult(), getOperand());
}
