//===- Shape.cpp - Verifiers and folders of shape ops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright::nn;

/// A splat constant has the same elements under any shape; other constants
/// are folded by `--nn-fold` alone.
static OpFoldResult foldSplat(Attribute operand, Type type) {
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(operand))
    return splat.resizeSplat(cast<ShapedType>(type));
  return {};
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  int64_t before = getOperand().getType().getNumElements();
  int64_t after = getType().getNumElements();
  if (before != after)
    return emitOpError("turns ") << before << " elements into " << after;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    if (inner.getOperand().getType() == getType())
      return inner.getOperand();
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return foldSplat(adaptor.getOperand(), getType());
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> shape = getShape(getOperand());
  SmallVector<int64_t> sorted(getPermutation());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, shape.size())))
    return emitOpError("has permutation ")
           << formatShape(getPermutation())
           << ", which does not hold each axis of a tensor of rank "
           << shape.size() << " once";

  SmallVector<int64_t> expected;
  for (int64_t axis : getPermutation())
    expected.push_back(shape[axis]);
  return verifyShape(*this, "result", getResult(), expected);
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getPermutation()))
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> composed;
    for (int64_t axis : getPermutation())
      composed.push_back(inner.getPermutation()[axis]);
    setPermutation(composed);
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return foldSplat(adaptor.getOperand(), getType());
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = getShape(getOperand()), to = getShape(getResult());
  bool fits = from.size() <= to.size();
  if (fits)
    for (auto [size, target] : llvm::zip_equal(from, to.take_back(from.size())))
      fits &= size == 1 || size == target;
  if (!fits)
    return emitOpError("cannot repeat shape ")
           << formatShape(from) << " to " << formatShape(to);
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<BroadcastOp>()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return foldSplat(adaptor.getOperand(), getType());
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> from = getShape(getOperand()), to = getShape(getResult());
  int64_t rank = from.size();
  if (failed(verifyPerAxis(*this, "offsets", getOffsets(), rank, 0)) ||
      failed(verifyPerAxis(*this, "strides", getStrides(), rank, 1)))
    return failure();
  if (to.size() != from.size())
    return emitOpError("takes a result of rank ")
           << to.size() << " from a tensor of rank " << rank;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (to[axis] == 0)
      continue;
    int64_t last =
        multiplyAdd(to[axis] - 1, getStrides()[axis], getOffsets()[axis]);
    if (last >= from[axis])
      return emitOpError("reads element ")
             << last << " of axis " << axis << ", which has " << from[axis];
  }
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  // A slice of the whole shape can only start at 0 and take every element.
  if (getOperand().getType() == getType())
    return getOperand();
  return foldSplat(adaptor.getOperand(), getType());
}

//===----------------------------------------------------------------------===//
// ReverseOp
//===----------------------------------------------------------------------===//

LogicalResult ReverseOp::verify() {
  return verifyAxes(*this, getAxes(), getRank(getOperand()));
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  if (getAxes().empty())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<ReverseOp>())
    if (inner.getAxes() == getAxes())
      return inner.getOperand();
  return foldSplat(adaptor.getOperand(), getType());
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

LogicalResult PadOp::verify() {
  ArrayRef<int64_t> shape = getShape(getOperand());
  int64_t rank = shape.size();
  if (failed(verifyPerAxis(*this, "low amounts", getLow(), rank, 0)) ||
      failed(verifyPerAxis(*this, "high amounts", getHigh(), rank, 0)) ||
      failed(verifyPerAxis(*this, "interior amounts", getInterior(), rank, 0)))
    return failure();

  SmallVector<int64_t> expected;
  for (auto [size, low, high, interior] :
       llvm::zip_equal(shape, getLow(), getHigh(), getInterior())) {
    int64_t gaps = std::max<int64_t>(size - 1, 0);
    int64_t inside = multiplyAdd(gaps, interior, size);
    expected.push_back(multiplyAdd(1, low, multiplyAdd(1, high, inside)));
  }
  return verifyShape(*this, "result", getResult(), expected);
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  return {};
}

//===----------------------------------------------------------------------===//
// ConcatOp
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::verify() {
  SmallVector<int64_t> expected(getShape(getParts().front()));
  if (failed(verifyAxis(*this, getAxis(), expected.size())))
    return failure();
  int64_t joined = 0;
  for (Value part : getParts()) {
    ArrayRef<int64_t> shape = getShape(part);
    if (shape.size() != expected.size())
      return emitOpError("joins tensors of ranks ")
             << expected.size() << " and " << shape.size();
    joined = multiplyAdd(1, joined, shape[getAxis()]);
    expected[getAxis()] = shape[getAxis()];
    if (failed(verifyShape(*this, "part", part, expected)))
      return failure();
  }
  expected[getAxis()] = joined;
  return verifyShape(*this, "result", getResult(), expected);
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getParts().size() == 1)
    return getParts().front();
  return {};
}
