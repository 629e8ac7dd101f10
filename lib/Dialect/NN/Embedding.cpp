//===- Embedding.cpp - Verifiers of look-ups
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace pipewright::nn;

/// The table's shape with the axis replaced by the shape of the indices.
static SmallVector<int64_t> getSlicesShape(ArrayRef<int64_t> table,
                                           ArrayRef<int64_t> indices,
                                           int64_t axis) {
  SmallVector<int64_t> shape(table.take_front(axis));
  llvm::append_range(shape, indices);
  llvm::append_range(shape, table.drop_front(axis + 1));
  return shape;
}

LogicalResult GatherOp::verify() {
  if (failed(verifyAxis(*this, getAxis(), getRank(getTable()))))
    return failure();
  return verifyShape(
      *this, "result", getResult(),
      getSlicesShape(getShape(getTable()), getShape(getIndices()), getAxis()));
}

LogicalResult ScatterAddOp::verify() {
  if (failed(verifyAxis(*this, getAxis(), getRank(getResult()))))
    return failure();
  return verifyShape(
      *this, "tensor of updates", getUpdates(),
      getSlicesShape(getShape(getResult()), getShape(getIndices()), getAxis()));
}
