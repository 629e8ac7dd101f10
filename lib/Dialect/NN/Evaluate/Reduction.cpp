//===- Reduction.cpp - What reductions compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorRegistry.h"
#include "Indexing.h"
#include "Wrapping.h"

#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace pipewright::nn;

template <typename Number>
static Number combine(Reduction kind, Number a, Number b) {
  switch (kind) {
  case Reduction::Sum:
  case Reduction::Mean:
    return Sum()(a, b);
  case Reduction::Prod:
    return Product()(a, b);
  case Reduction::Max:
    return a != a || a > b ? a : b;
  case Reduction::Min:
    return a != a || a < b ? a : b;
  }
  llvm_unreachable("all kinds are above");
}

/// What no elements are combined to: neutral beside any element. The mean of
/// none is not a number or, of integers, 0.
template <typename Number>
static Number getNeutral(Reduction kind, Type element) {
  bool isLowest = kind == Reduction::Max;
  switch (kind) {
  case Reduction::Sum:
  case Reduction::Mean:
    return 0;
  case Reduction::Prod:
    return 1;
  case Reduction::Max:
  case Reduction::Min:
    break;
  }
  if constexpr (std::is_floating_point_v<Number>)
    return isLowest ? -std::numeric_limits<Number>::infinity()
                    : std::numeric_limits<Number>::infinity();
  unsigned width = element.getIntOrFloatBitWidth();
  return isLowest ? llvm::minIntN(width) : llvm::maxIntN(width);
}

/// Combines the elements of \p operand that fall on one element of the result,
/// in row-major order.
template <typename Number>
static void reduce(ReduceOp op, ArrayRef<int64_t> shape,
                   ArrayRef<Number> operand, ArrayRef<int64_t> resultShape,
                   MutableArrayRef<Number> result) {
  Reduction kind = op.getKind();
  std::vector<bool> seen(result.size(), false);
  llvm::fill(result, getNeutral<Number>(
                         kind, getElementTypeOrSelf(op.getResult().getType())));
  forEachElement(shape, [&](ArrayRef<int64_t> index, int64_t position) {
    SmallVector<int64_t> kept;
    for (auto [axis, i] : llvm::enumerate(index))
      if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis)))
        kept.push_back(i);
    int64_t to = linearize(kept, resultShape);
    result[to] = seen[to] ? combine(kind, result[to], operand[position])
                          : operand[position];
    seen[to] = true;
  });
  if (kind != Reduction::Mean)
    return;
  for (Number &sum : result)
    sum = sum * static_cast<Number>(result.size()) /
          static_cast<Number>(operand.size());
}

static void evaluateReduce(ReduceOp op, ArrayRef<HostTensor> operands,
                           HostTensor &result) {
  const HostTensor &operand = operands[0];
  if (result.isFloat())
    reduce(op, operand.getShape(), operand.getFloats(), result.getShape(),
           result.getFloats());
  else
    reduce(op, operand.getShape(), operand.getIntegers(), result.getShape(),
           result.getIntegers());
}

template <typename Number>
static void sumAlong(CumulativeSumOp op, AxisView view,
                     ArrayRef<Number> operand, MutableArrayRef<Number> result) {
  view.forEachLine([&](int64_t o, int64_t k) {
    Number sum = 0;
    for (int64_t step = 0; step < view.size; ++step) {
      int64_t i = op.getReverse() ? view.size - 1 - step : step;
      int64_t position = view.position(o, i, k);
      Number before = sum;
      sum += operand[position];
      result[position] = op.getExclusive() ? before : sum;
    }
  });
}

static void evaluateCumulativeSum(CumulativeSumOp op,
                                  ArrayRef<HostTensor> operands,
                                  HostTensor &result) {
  AxisView view(result.getShape(), op.getAxis());
  if (result.isFloat())
    sumAlong(op, view, operands[0].getFloats(), result.getFloats());
  else
    sumAlong(op, view, operands[0].getIntegers(), result.getIntegers());
}

/// The positions of the \p line in the order of their elements.
template <typename Number>
static std::vector<int64_t> sortPositions(ArrayRef<Number> line,
                                          bool smallest) {
  std::vector<int64_t> positions(line.size());
  std::iota(positions.begin(), positions.end(), 0);
  llvm::sort(positions, [&](int64_t a, int64_t b) {
    if (line[a] == line[b])
      return a < b;
    return smallest ? line[a] < line[b] : line[a] > line[b];
  });
  return positions;
}

template <typename Number>
static void selectAlong(TopKOp op, ArrayRef<int64_t> shape,
                        ArrayRef<Number> operand, HostTensor &result) {
  AxisView from(shape, op.getAxis()), to(result.getShape(), op.getAxis());
  from.forEachLine([&](int64_t o, int64_t k) {
    std::vector<Number> line;
    for (int64_t i = 0; i < from.size; ++i)
      line.push_back(operand[from.position(o, i, k)]);
    std::vector<int64_t> positions =
        sortPositions<Number>(line, op.getSmallest());
    for (int64_t i = 0; i < to.size; ++i)
      result.getIntegers()[to.position(o, i, k)] = positions[i];
  });
}

static void evaluateTopK(TopKOp op, ArrayRef<HostTensor> operands,
                         HostTensor &result) {
  const HostTensor &operand = operands[0];
  if (operand.isFloat())
    selectAlong(op, operand.getShape(), operand.getFloats(), result);
  else
    selectAlong(op, operand.getShape(), operand.getIntegers(), result);
}

namespace pipewright::nn {
void registerReduction(EvaluatorRegistry &registry) {
  registry.add<ReduceOp>(evaluateReduce);
  registry.add<CumulativeSumOp>(evaluateCumulativeSum);
  registry.add<TopKOp>(evaluateTopK);
}
} // namespace pipewright::nn
