//===- Reduction.cpp - Gradients of sums and extremes over axes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

#include <limits>
#include <numeric>
#include <vector>

using namespace mlir;

namespace pipewright {

/// The elements equal to the extreme share its gradient evenly.
static Value extremeGradient(nn::ReduceOp op, Value dy, GradientBuilder &b) {
  Value x = op.getOperand();
  ArrayRef<int64_t> shape = getShape(x), axes = op.getAxes();
  Value isExtreme = b.compare(nn::Comparison::Equal, x,
                              b.repeatAlong(op.getResult(), axes, shape));
  Value winners = b.castTo(isExtreme, getElementTypeOrSelf(x.getType()));
  Value count = b.reduce(nn::Reduction::Sum, winners, axes);
  Value share = b.repeatAlong(b.divide(dy, count), axes, shape);
  return b.multiply(winners, share);
}

/// dx_i = dy * (product of the other elements). Where no other element is 0
/// that is the product of all elements but zeros, divided by x_i unless x_i is
/// 0 itself; so no quotient has a zero in it.
static Value productGradient(nn::ReduceOp op, Value dy, GradientBuilder &b) {
  Value x = op.getOperand();
  ArrayRef<int64_t> shape = getShape(x), axes = op.getAxes();
  Value zero = b.constant(0, x);
  Value isZero = b.compare(nn::Comparison::Equal, x, zero);
  Value nonZero = b.select(isZero, b.constant(1, x), x);
  Value product = b.reduce(nn::Reduction::Prod, nonZero, axes);
  Value isZeroNumber = b.castTo(isZero, getElementTypeOrSelf(x.getType()));
  Value zeros = b.reduce(nn::Reduction::Sum, isZeroNumber, axes);
  Value otherZeros =
      b.subtract(b.repeatAlong(zeros, axes, shape), isZeroNumber);
  Value others =
      b.divide(b.repeatAlong(b.multiply(dy, product), axes, shape), nonZero);
  return b.select(b.compare(nn::Comparison::Equal, otherZeros, zero), others,
                  zero);
}

/// Whether \p op takes the largest of the windows of a kernel: it pools.
static bool isMaxPooling(nn::ReduceOp op) {
  auto windows = op.getOperand().getDefiningOp<nn::Im2ColOp>();
  if (!windows || op.getKind() != nn::Reduction::Max)
    return false;
  int64_t spatial = windows.getStrides().size();
  return op.getAxes() == ArrayRef<int64_t>(getAxes(2, 2 + spatial));
}

/// The numbers of the elements along \p axes, in row-major order, in a tensor
/// of \p shape.
static Value numberAlong(ArrayRef<int64_t> axes, ArrayRef<int64_t> shape,
                         GradientBuilder &b) {
  SmallVector<int64_t> line(shape.size(), 1);
  for (int64_t axis : axes)
    line[axis] = shape[axis];
  std::vector<int32_t> numbers(ShapedType::getNumElements(line));
  std::iota(numbers.begin(), numbers.end(), 0);
  auto type = RankedTensorType::get(line, b.getBuilder().getI32Type());
  return b.broadcastTo(
      b.create<nn::ConstantOp>(type,
                               DenseElementsAttr::get(type, ArrayRef(numbers))),
      shape);
}

/// Of equal elements that are the largest of a window the first one has the
/// gradient, as in PyTorch; if there are NaNs, the first of them. Code
/// generation knows it by these ops.
static Value maxPoolingGradient(nn::ReduceOp op, Value dy, GradientBuilder &b) {
  Value x = op.getOperand();
  ArrayRef<int64_t> shape = getShape(x), axes = op.getAxes();
  auto repeat = [&](Value value) { return b.repeatAlong(value, axes, shape); };
  Value isLargest = b.create<nn::OrOp>(
      b.compare(nn::Comparison::Equal, x, repeat(op.getResult())),
      b.compare(nn::Comparison::NotEqual, x, x));
  Value number = numberAlong(axes, shape, b);
  Value nowhere = b.constant(std::numeric_limits<int32_t>::max(), number);
  Value first =
      b.reduce(nn::Reduction::Min, b.select(isLargest, number, nowhere), axes);
  Value isFirst = b.compare(nn::Comparison::Equal, number, repeat(first));
  return b.select(isFirst, repeat(dy), b.constant(0, x));
}

static Value reduceGradient(nn::ReduceOp op, Value dy, GradientBuilder &b) {
  ArrayRef<int64_t> shape = getShape(op.getOperand());
  switch (op.getKind()) {
  case nn::Reduction::Sum:
    return b.repeatAlong(dy, op.getAxes(), shape);
  case nn::Reduction::Mean: {
    int64_t count = 1;
    for (int64_t axis : op.getAxes())
      count *= shape[axis];
    return b.repeatAlong(b.scale(dy, 1.0 / count), op.getAxes(), shape);
  }
  case nn::Reduction::Max:
  case nn::Reduction::Min:
    return isMaxPooling(op) ? maxPoolingGradient(op, dy, b)
                            : extremeGradient(op, dy, b);
  case nn::Reduction::Prod:
    return productGradient(op, dy, b);
  }
  llvm_unreachable("all kinds are handled");
}

void registerReduction(GradientRegistry &registry) {
  registry.add<nn::ReduceOp>(0, reduceGradient);
  // Element j reaches the sums at and after it: run the other way.
  registry.add<nn::CumulativeSumOp>(
      0, [](nn::CumulativeSumOp op, Value dy, GradientBuilder &b) -> Value {
        return b.create<nn::CumulativeSumOp>(
            dy, op.getAxis(), op.getExclusive(), !op.getReverse());
      });
  registry.addConstant<nn::TopKOp>({0});
}

} // namespace pipewright
