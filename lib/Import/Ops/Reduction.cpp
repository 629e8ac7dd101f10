//===- Reduction.cpp - Sums and extremes over axes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

/// Which axes a Reduce operator combines; none if it does nothing.
static FailureOr<std::optional<SmallVector<int64_t>>>
getReducedAxes(OnnxNode &node) {
  // ReduceSum got its axes as an operand before the others.
  int64_t since = node.getOpType() == "ReduceSum" ? 13 : 18;
  int64_t rank = getTensorType(node.operand(0)).getRank();
  FailureOr<std::optional<SmallVector<int64_t>>> axes =
      node.getIntegers("axes", 1, since);
  if (failed(axes))
    return failure();
  bool doesNothing = node.getInt("noop_with_empty_axes", 0) != 0;
  if (!*axes || (*axes)->empty()) {
    if (doesNothing)
      return std::optional<SmallVector<int64_t>>();
    axes = std::optional<SmallVector<int64_t>>(getAllAxes(rank));
  }
  if (failed(node.normalizeAxes(**axes, rank)))
    return failure();
  llvm::sort(**axes);
  return axes;
}

template <nn::Reduction kind>
static FailureOr<Value> importReduce(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  FailureOr<std::optional<SmallVector<int64_t>>> axes = getReducedAxes(node);
  if (failed(axes))
    return failure();
  if (!*axes)
    return x;
  bool keepAxes = node.getInt("keepdims", 1) != 0;
  bool isExtreme = kind == nn::Reduction::Max || kind == nn::Reduction::Min;
  if (!isExtreme || !getElementType(x).isInteger(1))
    return b.reduce(kind, x, **axes, keepAxes);
  // Of booleans: whether any is true, or all are; of none, the same.
  Value numbers = b.cast(x, b.getOpBuilder().getI8Type());
  Value reduced = b.reduce(kind, numbers, **axes, keepAxes);
  return b.compare(nn::Comparison::Greater, reduced, b.splatLike(reduced, 0.0));
}

//===----------------------------------------------------------------------===//
// Sums of functions, and functions of sums
//===----------------------------------------------------------------------===//

using Function = Value (*)(NNBuilder &, Value);

static Value keep(NNBuilder &, Value x) { return x; }
static Value square(NNBuilder &b, Value x) { return b.create<nn::MulOp>(x, x); }
template <typename OpTy>
static Value apply(NNBuilder &b, Value x) {
  return b.create<OpTy>(x);
}

/// after(sum(before(x)))
template <Function before, Function after>
static FailureOr<Value> importSumOf(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  FailureOr<std::optional<SmallVector<int64_t>>> axes = getReducedAxes(node);
  if (failed(axes))
    return failure();
  Value result = before(b, node.operand(0));
  if (*axes)
    result = b.reduce(nn::Reduction::Sum, result, **axes,
                      node.getInt("keepdims", 1) != 0);
  return after(b, result);
}

/// log(sum(e^x)), with the largest element taken out of the powers.
static FailureOr<Value> importLogSumExp(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  FailureOr<std::optional<SmallVector<int64_t>>> axes = getReducedAxes(node);
  if (failed(axes))
    return failure();
  if (!*axes)
    return x;
  bool keepAxes = node.getInt("keepdims", 1) != 0;
  Value largest = b.reduce(nn::Reduction::Max, x, **axes, /*keepAxes=*/true);
  Value power = b.create<nn::ExpOp>(
      b.create<nn::SubOp>(x, b.broadcast(largest, getShape(x))));
  Value sum = b.reduce(nn::Reduction::Sum, power, **axes, keepAxes);
  return b.create<nn::AddOp>(b.create<nn::LogOp>(sum),
                             b.reshape(largest, getShape(sum)));
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The position of the extreme along \p axis: the first of several, or the
/// last if \p isLast.
static Value findExtreme(NNBuilder &b, nn::Reduction kind, Value x,
                         int64_t axis, bool isLast, bool keepAxes) {
  ArrayRef<int64_t> shape = getShape(x);
  Value extreme = b.reduce(kind, x, axis, /*keepAxes=*/true);
  Value isExtreme =
      b.compare(nn::Comparison::Equal, x, b.broadcast(extreme, shape));
  auto type = RankedTensorType::get(shape, b.getOpBuilder().getI64Type());
  Value nowhere = b.splat(type, isLast ? -1 : shape[axis]);
  Value position =
      b.create<nn::SelectOp>(type, isExtreme, b.iota(type, axis), nowhere);
  return b.reduce(isLast ? nn::Reduction::Max : nn::Reduction::Min, position,
                  axis, keepAxes);
}

template <nn::Reduction kind>
static FailureOr<Value> importArg(OnnxNode &node) {
  node.setUnsignedBits(0, 0);
  Value x = node.operand(0);
  FailureOr<int64_t> axis =
      node.getAxis(node.getInt("axis", 0), getTensorType(x).getRank());
  if (failed(axis))
    return failure();
  return findExtreme(node.getBuilder(), kind, x, *axis,
                     node.getInt("select_last_index", 0) != 0,
                     node.getInt("keepdims", 1) != 0);
}

/// 1 at the first of the largest elements along an axis, and 0 elsewhere.
static FailureOr<Value> importHardmax(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  SmallVector<int64_t> shape(getShape(x));
  // Before operator set 13 all axes from `axis` on are one.
  bool isFlattened = node.getOpset() < 13;
  FailureOr<int64_t> axis =
      node.getAxis(node.getInt("axis", isFlattened ? 1 : -1), shape.size());
  if (failed(axis))
    return failure();
  if (isFlattened)
    x = b.reshape(
        x, {ShapedType::getNumElements(ArrayRef(shape).take_front(*axis)),
            ShapedType::getNumElements(ArrayRef(shape).drop_front(*axis))});
  int64_t along = isFlattened ? 1 : *axis;
  Value position = findExtreme(b, nn::Reduction::Max, x, along,
                               /*isLast=*/false, /*keepAxes=*/true);
  auto type = RankedTensorType::get(getShape(x), b.getOpBuilder().getI64Type());
  Value isThere = b.compare(nn::Comparison::Equal, b.iota(type, along),
                            b.broadcast(position, getShape(x)));
  return b.reshape(b.cast(isThere, getElementType(x)), shape);
}

//===----------------------------------------------------------------------===//
// Running sums
//===----------------------------------------------------------------------===//

static FailureOr<Value> importCumSum(OnnxNode &node) {
  FailureOr<double> named = node.getNumber(1);
  if (failed(named))
    return failure();
  FailureOr<int64_t> axis =
      node.getAxis(toInteger(*named), getTensorType(node.operand(0)).getRank());
  if (failed(axis))
    return failure();
  return node.getBuilder().create<nn::CumulativeSumOp>(
      node.operand(0), *axis, node.getInt("exclusive", 0) != 0,
      node.getInt("reverse", 0) != 0);
}

namespace pipewright {
void registerReduction(OnnxOpRegistry &registry) {
  using nn::Reduction;
  registry.add("ArgMax", /*since=*/1, 1, importArg<Reduction::Max>);
  registry.add("ArgMin", /*since=*/1, 1, importArg<Reduction::Min>);
  registry.add("CumSum", /*since=*/11, 2, importCumSum);
  registry.add("Hardmax", /*since=*/1, 1, importHardmax);
  registry.add("ReduceL1", /*since=*/1, {1, 2},
               importSumOf<apply<nn::AbsOp>, keep>);
  registry.add("ReduceL2", /*since=*/1, {1, 2},
               importSumOf<square, apply<nn::SqrtOp>>);
  registry.add("ReduceLogSum", /*since=*/1, {1, 2},
               importSumOf<keep, apply<nn::LogOp>>);
  registry.add("ReduceLogSumExp", /*since=*/1, {1, 2}, importLogSumExp);
  registry.add("ReduceMax", /*since=*/1, {1, 2}, importReduce<Reduction::Max>);
  registry.add("ReduceMean", /*since=*/1, {1, 2},
               importReduce<Reduction::Mean>);
  registry.add("ReduceMin", /*since=*/1, {1, 2}, importReduce<Reduction::Min>);
  registry.add("ReduceProd", /*since=*/1, {1, 2},
               importReduce<Reduction::Prod>);
  registry.add("ReduceSum", /*since=*/1, {1, 2}, importReduce<Reduction::Sum>);
  registry.add("ReduceSumSquare", /*since=*/1, {1, 2},
               importSumOf<square, keep>);
}
} // namespace pipewright
