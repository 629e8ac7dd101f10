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
  if (!*axes || (*axes)->empty()) {
    if (node.getInt("noop_with_empty_axes", 0) != 0)
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
  FailureOr<std::optional<SmallVector<int64_t>>> axes = getReducedAxes(node);
  if (failed(axes))
    return failure();
  if (!*axes)
    return node.operand(0);
  return node.getBuilder().reduce(kind, node.operand(0), **axes,
                                  node.getInt("keepdims", 1) != 0);
}

/// The sum of squares, and for the L2 norm its root.
template <bool isNorm>
static FailureOr<Value> importSumOfSquares(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  FailureOr<std::optional<SmallVector<int64_t>>> axes = getReducedAxes(node);
  if (failed(axes))
    return failure();
  Value result = b.create<nn::MulOp>(node.operand(0), node.operand(0));
  if (*axes)
    result = b.reduce(nn::Reduction::Sum, result, **axes,
                      node.getInt("keepdims", 1) != 0);
  return isNorm ? b.create<nn::SqrtOp>(result) : result;
}

static FailureOr<Value> importCumSum(OnnxNode &node) {
  FailureOr<double> named = node.getNumber(1);
  if (failed(named))
    return failure();
  FailureOr<int64_t> axis =
      node.getAxis(int64_t(*named), getTensorType(node.operand(0)).getRank());
  if (failed(axis))
    return failure();
  return node.getBuilder().create<nn::CumulativeSumOp>(
      node.operand(0), *axis, node.getInt("exclusive", 0) != 0,
      node.getInt("reverse", 0) != 0);
}

namespace pipewright {
void registerReduction(OnnxOpRegistry &registry) {
  using nn::Reduction;
  registry.add("CumSum", /*since=*/11, 2, importCumSum);
  registry.add("ReduceL2", /*since=*/1, {1, 2}, importSumOfSquares<true>);
  registry.add("ReduceMax", /*since=*/1, {1, 2}, importReduce<Reduction::Max>);
  registry.add("ReduceMean", /*since=*/1, {1, 2},
               importReduce<Reduction::Mean>);
  registry.add("ReduceMin", /*since=*/1, {1, 2}, importReduce<Reduction::Min>);
  registry.add("ReduceProd", /*since=*/1, {1, 2},
               importReduce<Reduction::Prod>);
  registry.add("ReduceSum", /*since=*/1, {1, 2}, importReduce<Reduction::Sum>);
  registry.add("ReduceSumSquare", /*since=*/1, {1, 2},
               importSumOfSquares<false>);
}
} // namespace pipewright
