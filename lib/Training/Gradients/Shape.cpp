//===- Shape.cpp - Gradients of ops that move elements
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

using namespace mlir;

namespace pipewright {

static Value transposeGradient(nn::TransposeOp op, Value dy,
                               GradientBuilder &b) {
  SmallVector<int64_t> inverse(op.getPermutation().size());
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    inverse[from] = to;
  return b.transpose(dy, inverse);
}

/// Puts each element back where it was taken from.
static Value sliceGradient(nn::SliceOp op, Value dy, GradientBuilder &b) {
  ArrayRef<int64_t> from = getShape(op.getOperand());
  SmallVector<int64_t> high, interior;
  for (auto [axis, taken] : llvm::enumerate(getShape(dy))) {
    int64_t offset = op.getOffsets()[axis], stride = op.getStrides()[axis];
    int64_t end = taken == 0 ? offset : offset + (taken - 1) * stride + 1;
    high.push_back(from[axis] - end);
    interior.push_back(stride - 1);
  }
  return b.create<nn::PadOp>(op.getOperand().getType(), dy, op.getOffsets(),
                             high, interior, llvm::APFloat(0.0));
}

static Value padGradient(nn::PadOp op, Value dy, GradientBuilder &b) {
  SmallVector<int64_t> strides;
  for (int64_t interior : op.getInterior())
    strides.push_back(interior + 1);
  return b.create<nn::SliceOp>(op.getOperand().getType(), dy, op.getLow(),
                               strides);
}

static Value concatGradient(nn::ConcatOp op, unsigned part, Value dy,
                            GradientBuilder &b) {
  SmallVector<int64_t> offsets(getShape(dy).size(), 0);
  SmallVector<int64_t> strides(getShape(dy).size(), 1);
  for (Value earlier : op.getParts().take_front(part))
    offsets[op.getAxis()] += getShape(earlier)[op.getAxis()];
  return b.create<nn::SliceOp>(op.getParts()[part].getType(), dy, offsets,
                               strides);
}

void registerShape(GradientRegistry &registry) {
  registry.add<nn::ReshapeOp>(
      0, [](nn::ReshapeOp op, Value dy, GradientBuilder &b) {
        return b.reshape(dy, getShape(op.getOperand()));
      });
  registry.add<nn::BroadcastOp>(
      0, [](nn::BroadcastOp op, Value dy, GradientBuilder &b) {
        return b.reduceTo(dy, getShape(op.getOperand()));
      });
  registry.add<nn::ReverseOp>(
      0, [](nn::ReverseOp op, Value dy, GradientBuilder &b) -> Value {
        return b.create<nn::ReverseOp>(dy, op.getAxes());
      });
  registry.add<nn::TransposeOp>(0, transposeGradient);
  registry.add<nn::SliceOp>(0, sliceGradient);
  registry.add<nn::PadOp>(0, padGradient);
  registry.addForEach<nn::ConcatOp>(concatGradient);
}

} // namespace pipewright
