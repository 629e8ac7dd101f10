//===- RowStatistics.cpp - Values computed once a row
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowStatistics.h"

#include "Operands.h"

using namespace mlir;
using namespace pipewright;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

RowStatistics::RowStatistics(nn::ReduceOp reduction)
    : shape(shapeOf(reduction.getOperand())), axes(reduction.getAxes()) {
  for (auto [axis, size] : llvm::enumerate(shape)) {
    bool isReduced = llvm::is_contained(axes, static_cast<int64_t>(axis));
    kept.push_back(isReduced ? 1 : size);
    if (!isReduced)
      dropped.push_back(size);
  }
}

std::optional<RowStatistics> RowStatistics::find(Value value) {
  // A spelled-out norm has fewer ops than this between reduction and use.
  constexpr int maxDistance = 8;
  for (int distance = 0; distance < maxDistance; ++distance) {
    Operation *op = value.getDefiningOp();
    if (auto reduction = dyn_cast_or_null<nn::ReduceOp>(op))
      return RowStatistics(reduction);
    if (!isa_and_nonnull<nn::ReshapeOp, nn::BroadcastOp, nn::AddOp, nn::MulOp,
                         nn::DivOp, nn::SqrtOp, nn::RsqrtOp, nn::ReciprocalOp,
                         nn::PowOp>(op))
      return std::nullopt;
    Value first = op->getOperand(0);
    value = getSplat(first) ? op->getOperands().back() : first;
  }
  return std::nullopt;
}

bool RowStatistics::isPerRow(Value value) const {
  return shapeOf(value) == ArrayRef(dropped) ||
         shapeOf(value) == ArrayRef(kept);
}

int64_t RowStatistics::getRowSize() const {
  int64_t size = 1;
  for (int64_t axis : axes)
    size *= shape[axis];
  return size;
}

Value RowStatistics::strip(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    bool isReshaped = isa<nn::ReshapeOp>(op) && isPerRow(value) &&
                      isPerRow(op->getOperand(0));
    // Shapes are aligned at their last axes, so a repeat along the row starts
    // from a shape that has the row's axes.
    bool isRepeated = isa<nn::BroadcastOp>(op) &&
                      shapeOf(value) == ArrayRef(shape) &&
                      shapeOf(op->getOperand(0)) == ArrayRef(kept);
    if (!isReshaped && !isRepeated)
      break;
    value = op->getOperand(0);
  }
  return value;
}

Value RowStatistics::getReduced(Value value, nn::Reduction kind) const {
  value = strip(value);
  if (auto reduction = value.getDefiningOp<nn::ReduceOp>()) {
    bool isSame = reduction.getKind() == kind &&
                  reduction.getAxes() == ArrayRef(axes) &&
                  shapeOf(reduction.getOperand()) == ArrayRef(shape);
    return isSame ? reduction.getOperand() : Value();
  }
  if (kind != nn::Reduction::Mean)
    return {};
  double size = getRowSize();
  Value sum = getOperandBesideSplat<nn::DivOp>(value, size);
  if (!sum)
    sum = getOperandBesideSplat<nn::MulOp>(value, 1 / size);
  return sum ? getReduced(sum, nn::Reduction::Sum) : Value();
}
