//===- Normalization.cpp - Gradients of softmax and norms
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

using namespace mlir;

namespace pipewright {

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static Value softmaxGradient(nn::SoftmaxOp op, Value dy, GradientBuilder &b) {
  return b.create<nn::SoftmaxGradOp>(op.getResult(), dy, op.getAxis());
}

/// dx = dy - softmax(x) sum(dy).
static Value logSoftmaxGradient(nn::LogSoftmaxOp op, Value dy,
                                GradientBuilder &b) {
  int64_t axis = op.getAxis();
  Value softmax = b.create<nn::ExpOp>(op.getResult());
  Value sum = b.reduce(nn::Reduction::Sum, dy, axis);
  return b.subtract(
      dy, b.multiply(softmax, b.repeatAlong(sum, axis, getShape(dy))));
}

//===----------------------------------------------------------------------===//
// Layer norm and RMS norm
//===----------------------------------------------------------------------===//

namespace {
/// The rows of a norm: the span of the axes from `axis` to the last.
struct Rows {
  template <typename NormOp>
  explicit Rows(NormOp op)
      : shape(getShape(op.getOperand())),
        axes(getAxes(op.getAxis(), shape.size())) {
    for (int64_t axis : axes)
      size *= shape[axis];
  }

  /// Repeats a number per row, or a tensor of a row's shape, to all elements.
  Value perRow(Value value, GradientBuilder &b) const {
    return b.repeatAlong(value, axes, shape);
  }
  Value perElement(Value value, GradientBuilder &b) const {
    return b.broadcastTo(value, shape);
  }

  ArrayRef<int64_t> shape;
  SmallVector<int64_t> axes;
  int64_t size = 1;
};
} // namespace

/// The sum of two gradients of which either may be zero (null).
static Value sum(Value lhs, Value rhs, GradientBuilder &b) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return b.add(lhs, rhs);
}

/// The way of a norm's inverse deviation r = (mean(c^2) + epsilon)^(-1/2) back
/// to the (centered) row c: dc = -dr r^3 c / size.
static Value inverseDeviationGradient(const Rows &rows, Value dr, Value r,
                                      Value c, GradientBuilder &b) {
  Value factor = b.multiply(dr, b.multiply(r, b.multiply(r, r)));
  factor = b.scale(factor, -1.0 / rows.size);
  return b.multiply(rows.perRow(factor, b), c);
}

static Value centered(nn::LayerNormOp op, const Rows &rows,
                      GradientBuilder &b) {
  return b.subtract(op.getOperand(), rows.perRow(op.getMean(), b));
}

static Value layerNormOperandGradient(nn::LayerNormOp op,
                                      ArrayRef<Value> cotangents,
                                      GradientBuilder &b) {
  Rows rows(op);
  Value r = op.getInverseDeviation();
  Value gradient;
  if (Value dy = cotangents[0])
    gradient = b.create<nn::LayerNormGradOp>(op.getOperand().getType(), dy,
                                             op.getOperand(), op.getScale(),
                                             op.getMean(), r, op.getAxis());
  if (Value dm = cotangents[1])
    gradient = sum(gradient, rows.perRow(b.scale(dm, 1.0 / rows.size), b), b);
  if (Value dr = cotangents[2])
    gradient =
        sum(gradient,
            inverseDeviationGradient(rows, dr, r, centered(op, rows, b), b), b);
  return gradient;
}

static Value layerNormScaleGradient(nn::LayerNormOp op,
                                    ArrayRef<Value> cotangents,
                                    GradientBuilder &b) {
  Value dy = cotangents[0];
  if (!dy)
    return {};
  Rows rows(op);
  Value normalized = b.multiply(centered(op, rows, b),
                                rows.perRow(op.getInverseDeviation(), b));
  return b.reduceTo(b.multiply(dy, normalized), getShape(op.getScale()));
}

static Value layerNormBiasGradient(nn::LayerNormOp op,
                                   ArrayRef<Value> cotangents,
                                   GradientBuilder &b) {
  if (!cotangents[0])
    return {};
  return b.reduceTo(cotangents[0], getShape(op.getBias()));
}

/// With n = x r and g = dy scale: dx = r (g - n mean(g n)).
static Value rmsNormOperandGradient(nn::RMSNormOp op,
                                    ArrayRef<Value> cotangents,
                                    GradientBuilder &b) {
  Rows rows(op);
  Value x = op.getOperand(), r = op.getInverseDeviation();
  Value gradient;
  if (Value dy = cotangents[0]) {
    Value rPerRow = rows.perRow(r, b);
    Value n = b.multiply(x, rPerRow);
    Value g = b.multiply(dy, rows.perElement(op.getScale(), b));
    Value mean = b.reduce(nn::Reduction::Mean, b.multiply(g, n), rows.axes);
    gradient =
        b.multiply(rPerRow, b.subtract(g, b.multiply(n, rows.perRow(mean, b))));
  }
  if (Value dr = cotangents[1])
    gradient = sum(gradient, inverseDeviationGradient(rows, dr, r, x, b), b);
  return gradient;
}

static Value rmsNormScaleGradient(nn::RMSNormOp op, ArrayRef<Value> cotangents,
                                  GradientBuilder &b) {
  Value dy = cotangents[0];
  if (!dy)
    return {};
  Rows rows(op);
  Value normalized =
      b.multiply(op.getOperand(), rows.perRow(op.getInverseDeviation(), b));
  return b.reduceTo(b.multiply(dy, normalized), getShape(op.getScale()));
}

void registerNormalization(GradientRegistry &registry) {
  registry.add<nn::SoftmaxOp>(0, softmaxGradient);
  registry.add<nn::LogSoftmaxOp>(0, logSoftmaxGradient);
  registry.add<nn::LayerNormOp>(0, layerNormOperandGradient);
  registry.add<nn::LayerNormOp>(1, layerNormScaleGradient);
  registry.add<nn::LayerNormOp>(2, layerNormBiasGradient);
  registry.add<nn::RMSNormOp>(0, rmsNormOperandGradient);
  registry.add<nn::RMSNormOp>(1, rmsNormScaleGradient);
  // Made by differentiation, which is done once.
  registry.addConstant<nn::SoftmaxGradOp>({0, 1});
  registry.addConstant<nn::LayerNormGradOp>({0, 1, 2, 3, 4});
}

} // namespace pipewright
