//===- JoinPads.cpp - Sums of padded parts as one tensor
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of each slice of a value is as large as the value, zero outside
// of the slice; the gradient of the value is their sum. Where the slices are
// the whole value, as those for the query, key and value of attention, this is
// a concatenation: one tensor and no addition.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

/// Collects the pads of which \p value, used once, is the sum.
static bool collectPads(Value value, SmallVectorImpl<nn::PadOp> &pads) {
  if (!value.hasOneUse())
    return false;
  if (auto add = value.getDefiningOp<nn::AddOp>())
    return collectPads(add.getLhs(), pads) && collectPads(add.getRhs(), pads);
  auto pad = value.getDefiningOp<nn::PadOp>();
  if (!pad || !pad.getValue().isZero() ||
      llvm::any_of(pad.getInterior(), [](int64_t step) { return step != 0; }))
    return false;
  pads.push_back(pad);
  return true;
}

/// The axis along which \p pad pads, if it is one.
static std::optional<int64_t> findAxis(nn::PadOp pad) {
  std::optional<int64_t> axis;
  for (auto [index, low, high] : llvm::enumerate(pad.getLow(), pad.getHigh())) {
    if (low == 0 && high == 0)
      continue;
    if (axis)
      return std::nullopt;
    axis = index;
  }
  return axis;
}

/// Sorts \p pads by their place along one axis; the axis, if they are a whole
/// there.
static std::optional<int64_t> findJoin(SmallVectorImpl<nn::PadOp> &pads) {
  std::optional<int64_t> axis = findAxis(pads.front());
  if (!axis ||
      llvm::any_of(pads, [&](nn::PadOp pad) { return findAxis(pad) != axis; }))
    return std::nullopt;
  llvm::sort(pads, [&](nn::PadOp a, nn::PadOp b) {
    return a.getLow()[*axis] < b.getLow()[*axis];
  });
  int64_t end = 0;
  for (nn::PadOp pad : pads) {
    if (pad.getLow()[*axis] != end)
      return std::nullopt;
    end += pad.getOperand().getType().getDimSize(*axis);
  }
  if (end != pads.front().getResult().getType().getDimSize(*axis))
    return std::nullopt;
  return axis;
}

void pipewright::joinPads(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<nn::AddOp> adds;
  function.walk([&](nn::AddOp add) { adds.push_back(add); });
  // The last sum first: it has all parts.
  for (nn::AddOp add : llvm::reverse(adds)) {
    SmallVector<nn::PadOp> pads;
    if (!collectPads(add.getLhs(), pads) || !collectPads(add.getRhs(), pads))
      continue;
    std::optional<int64_t> axis = findJoin(pads);
    if (!axis)
      continue;
    auto parts = llvm::map_to_vector(
        pads, [](nn::PadOp pad) -> Value { return pad.getOperand(); });
    rewriter.setInsertionPoint(add);
    rewriter.replaceOpWithNewOp<nn::ConcatOp>(add, add.getResult().getType(),
                                              parts, *axis);
  }
}
