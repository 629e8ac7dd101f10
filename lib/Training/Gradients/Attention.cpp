//===- Attention.cpp - Gradients of attention and rotary positions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With the weights P = softmax(S), S = scale Q K^T + mask and Y = P V:
// dV = P^T dY, dS = softmax'(dY V^T), dQ = scale dS K, dK = scale dS^T Q. Under
// a soft cap, S = cap T + mask with T = tanh(scale Q K^T / cap), and dQ and dK
// have dS (1 - T^2) for dS. The weights are computed again from the operands,
// as FlashAttention does (Dao et al., arXiv:2205.14135), so forward saves
// nothing of the size of S.
//
// For attention with statistics, the logarithms of sums that softmax divides
// by, all of this is one op.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

#include "pipewright/Dialect/NN/Attention.h"

using namespace mlir;

namespace pipewright {

using nn::AttentionOp;
using nn::AttentionSizes;
using nn::AttentionWithStatisticsOp;

static Value getPerGroup(Value perHead, const AttentionSizes &sizes,
                         GradientBuilder &b) {
  return b.reshape(perHead, sizes.perGroup(getShape(perHead).back()));
}

/// dS, one matrix a group.
static Value scoresGradient(AttentionOp op, Value dy, GradientBuilder &b) {
  AttentionSizes sizes(op);
  Value weights = nn::createAttentionWeights(b.getBuilder(), op);
  Value dWeights = b.matmul(getPerGroup(dy, sizes, b), false, op.getValue(),
                            true, weights.getType());
  return b.create<nn::SoftmaxGradOp>(weights, dWeights,
                                     getShape(weights).size() - 1);
}

/// The gradient of Q K^T, rounded to the operands' type.
static Value productGradient(AttentionOp op, Value dy, GradientBuilder &b) {
  Value gradient = scoresGradient(op, dy, b);
  if (op.getSoftcap()) {
    Value fraction = nn::createCapFraction(b.getBuilder(), op);
    Value passed =
        b.subtract(b.constant(1, fraction), b.multiply(fraction, fraction));
    gradient = b.multiply(gradient, passed);
  }
  Value scaled = b.scale(gradient, op.getScale().convertToDouble());
  return b.castTo(scaled, getElementTypeOrSelf(op.getType()));
}

static Value queryGradient(AttentionOp op, Value dy, GradientBuilder &b) {
  AttentionSizes sizes(op);
  Type element = getElementTypeOrSelf(op.getType());
  Value gradient =
      b.matmul(productGradient(op, dy, b), false, op.getKey(), false,
               RankedTensorType::get(sizes.perGroup(sizes.size), element));
  return b.reshape(gradient, getShape(op.getQuery()));
}

static Value keyGradient(AttentionOp op, Value dy, GradientBuilder &b) {
  AttentionSizes sizes(op);
  return b.matmul(productGradient(op, dy, b), true,
                  getPerGroup(op.getQuery(), sizes, b), false,
                  op.getKey().getType());
}

static Value valueGradient(AttentionOp op, Value dy, GradientBuilder &b) {
  AttentionSizes sizes(op);
  Value weights = b.castTo(nn::createAttentionWeights(b.getBuilder(), op),
                           getElementTypeOrSelf(op.getType()));
  return b.matmul(weights, true, getPerGroup(dy, sizes, b), false,
                  op.getValue().getType());
}

static Value maskGradient(AttentionOp op, Value dy, GradientBuilder &b) {
  AttentionSizes sizes(op);
  Value gradient = b.reduceTo(
      b.reshape(scoresGradient(op, dy, b), sizes.perHead(sizes.keys)),
      getShape(op.getMask()));
  return b.castTo(gradient, getElementTypeOrSelf(op.getMask()));
}

/// The way of the statistics back to Q K^T: dS = P ds, rounded as above.
static Value statisticsGradient(AttentionWithStatisticsOp op, Value ds,
                                GradientBuilder &b) {
  AttentionSizes sizes(op);
  Value weights =
      nn::createAttentionWeights(b.getBuilder(), op, op.getStatistics());
  SmallVector<int64_t> column = sizes.perGroup(1);
  Value perRow = b.broadcastTo(b.reshape(ds, column), getShape(weights));
  Value scaled =
      b.scale(b.multiply(weights, perRow), op.getScale().convertToDouble());
  return b.castTo(scaled, getElementTypeOrSelf(op.getQuery()));
}

/// The gradient for query or key of the statistics, which do not depend on the
/// values.
static Value statisticsGradient(AttentionWithStatisticsOp op, unsigned operand,
                                Value ds, GradientBuilder &b) {
  AttentionSizes sizes(op);
  Value product = statisticsGradient(op, ds, b);
  Value query = getPerGroup(op.getQuery(), sizes, b);
  if (operand == 1)
    return b.matmul(product, true, query, false, op.getKey().getType());
  return b.reshape(
      b.matmul(product, false, op.getKey(), false, query.getType()),
      getShape(op.getQuery()));
}

/// All three gradients of the result are made by one op, of which equal ones
/// become one. That of the statistics is zero where only such ops read them.
static Value gradientWithStatistics(AttentionWithStatisticsOp op,
                                    unsigned operand,
                                    ArrayRef<Value> cotangents,
                                    GradientBuilder &b) {
  Value dy = cotangents[0], ds = operand == 2 ? Value() : cotangents[1];
  Value ofResult, ofStatistics;
  if (dy)
    ofResult = b.create<nn::AttentionGradOp>(
                    op.getOperandTypes(), dy, op.getQuery(), op.getKey(),
                    op.getValue(), op.getResult(), op.getStatistics(),
                    op.getScaleAttr(), op.getCausalAttr())
                   ->getResult(operand);
  if (ds)
    ofStatistics = statisticsGradient(op, operand, ds, b);
  if (!ofResult || !ofStatistics)
    return ofResult ? ofResult : ofStatistics;
  return b.add(ofResult, ofStatistics);
}

static Value rotate(nn::RotaryOp op, Value value, GradientBuilder &b) {
  return nn::createRotatedPairs(b.getBuilder(), b.getLoc(), value,
                                op.getInterleaved());
}

/// y0 = x0 c0 - x1 s0 and y1 = x1 c1 + x0 s1, so dx0 = dy0 c0 + dy1 s1 and
/// dx1 = dy1 c1 - dy0 s0: a rotation, too, with sines -s1 and -s0.
static Value rotaryGradient(nn::RotaryOp op, Value dy, GradientBuilder &b) {
  Value sine = nn::createSwappedPairs(b.getBuilder(), b.getLoc(), op.getSine(),
                                      op.getInterleaved());
  return nn::RotaryOp::create(b.getBuilder(), b.getLoc(), dy, op.getCosine(),
                              b.negate(sine), op.getInterleaved());
}

void registerAttention(GradientRegistry &registry) {
  registry.add<AttentionOp>(0, queryGradient);
  registry.add<AttentionOp>(1, keyGradient);
  registry.add<AttentionOp>(2, valueGradient);
  registry.add<AttentionOp>(3, maskGradient);
  for (unsigned operand : {0, 1, 2})
    registry.add<AttentionWithStatisticsOp>(
        operand, [operand](AttentionWithStatisticsOp op,
                           ArrayRef<Value> cotangents, GradientBuilder &b) {
          return gradientWithStatistics(op, operand, cotangents, b);
        });
  // Made by differentiation, which is done once.
  registry.addConstant<nn::AttentionGradOp>({0, 1, 2, 3, 4, 5});
  registry.add<nn::RotaryOp>(0, rotaryGradient);
  registry.add<nn::RotaryOp>(1,
                             [](nn::RotaryOp op, Value dy, GradientBuilder &b) {
                               return b.multiply(dy, op.getOperand());
                             });
  registry.add<nn::RotaryOp>(
      2, [](nn::RotaryOp op, Value dy, GradientBuilder &b) {
        return b.multiply(dy, rotate(op, op.getOperand(), b));
      });
}

} // namespace pipewright
