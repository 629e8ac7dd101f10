//===- Activation.cpp - Nonlinear functions between layers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a formula has two sides, each is given operands for which it is finite:
// the gradient of a side that is not taken is multiplied by zero, and must not
// be infinite.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Rectifiers
//===----------------------------------------------------------------------===//

static Value min(NNBuilder &b, Value x, double bound) {
  return b.create<nn::MinOp>(x, b.splatLike(x, bound));
}

static Value clamp(NNBuilder &b, Value x, double low, double high) {
  return min(b, b.create<nn::MaxOp>(x, b.splatLike(x, low)), high);
}

static Value shift(NNBuilder &b, Value x, double distance) {
  return b.create<nn::AddOp>(x, b.splatLike(x, distance));
}

/// \p high where x > bound, else \p low.
static Value selectAbove(NNBuilder &b, Value x, double bound, Value high,
                         Value low) {
  Value isAbove = b.compare(nn::Comparison::Greater, x, b.splatLike(x, bound));
  return b.create<nn::SelectOp>(high.getType(), isAbove, high, low);
}

static FailureOr<Value> importLeakyRelu(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  Value zero = b.splatLike(x, 0.0);
  Value negative =
      b.scale(b.create<nn::MinOp>(x, zero), node.getFloat("alpha", 0.01));
  return b.create<nn::AddOp>(b.create<nn::ReluOp>(x), negative);
}

/// As LeakyRelu, with a slope that is an operand.
static FailureOr<Value> importPRelu(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  SmallVector<Value> values{x, node.operand(1)};
  if (failed(node.broadcastTogether(values)))
    return failure();
  if (getShape(values[0]) != getShape(x))
    return node.emitError() << "has a slope " << node.operand(1).getType()
                            << " for an operand " << x.getType();
  Value negative = b.create<nn::MulOp>(min(b, x, 0.0), values[1]);
  return b.create<nn::AddOp>(b.create<nn::ReluOp>(x), negative);
}

static FailureOr<Value> importThresholdedRelu(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  return selectAbove(b, x, node.getFloat("alpha", 1.0), x, b.splatLike(x, 0.0));
}

/// Towards zero by a bias where the operand is farther away than lambd.
static FailureOr<Value> importShrink(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  double limit = node.getFloat("lambd", 0.5), bias = node.getFloat("bias", 0.0);
  Value isBelow = b.compare(nn::Comparison::Less, x, b.splatLike(x, -limit));
  Value inside = b.create<nn::SelectOp>(x.getType(), isBelow, shift(b, x, bias),
                                        b.splatLike(x, 0.0));
  return selectAbove(b, x, limit, shift(b, x, -bias), inside);
}

/// alpha * (e^(x / rate) - 1) below zero, x above, both times gamma.
static Value buildElu(NNBuilder &b, Value x, double alpha, double rate,
                      double gamma) {
  Value power = b.create<nn::ExpOp>(b.scale(min(b, x, 0.0), 1.0 / rate));
  Value low = b.scale(shift(b, power, -1.0), alpha);
  return b.scale(selectAbove(b, x, 0.0, x, low), gamma);
}

static FailureOr<Value> importElu(OnnxNode &node) {
  return buildElu(node.getBuilder(), node.operand(0),
                  node.getFloat("alpha", 1.0), /*rate=*/1.0, /*gamma=*/1.0);
}

static FailureOr<Value> importCelu(OnnxNode &node) {
  double alpha = node.getFloat("alpha", 1.0);
  if (alpha == 0)
    return node.emitError() << "divides by alpha, which is 0";
  return buildElu(node.getBuilder(), node.operand(0), alpha, alpha,
                  /*gamma=*/1.0);
}

static FailureOr<Value> importSelu(OnnxNode &node) {
  // From Klambauer et al., Self-Normalizing Neural Networks, 2017.
  return buildElu(node.getBuilder(), node.operand(0),
                  node.getFloat("alpha", 1.67326319217681884765625),
                  /*rate=*/1.0,
                  node.getFloat("gamma", 1.05070102214813232421875));
}

//===----------------------------------------------------------------------===//
// Sigmoids and gates
//===----------------------------------------------------------------------===//

static Value hardSigmoid(NNBuilder &b, Value x, double alpha, double beta) {
  return clamp(b, shift(b, b.scale(x, alpha), beta), 0.0, 1.0);
}

static FailureOr<Value> importHardSigmoid(OnnxNode &node) {
  return hardSigmoid(node.getBuilder(), node.operand(0),
                     node.getFloat("alpha", 0.2), node.getFloat("beta", 0.5));
}

static FailureOr<Value> importHardSwish(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  return b.create<nn::MulOp>(x, hardSigmoid(b, x, 1.0 / 6, 0.5));
}

/// log(1 + e^x), which above this bound is x to the last digit of an f32.
static Value softplus(NNBuilder &b, Value x) {
  constexpr double bound = 20;
  Value power = b.create<nn::ExpOp>(min(b, x, bound));
  Value low = b.create<nn::LogOp>(shift(b, power, 1.0));
  return selectAbove(b, x, bound, x, low);
}

static FailureOr<Value> importSoftplus(OnnxNode &node) {
  return softplus(node.getBuilder(), node.operand(0));
}

static FailureOr<Value> importMish(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  return b.create<nn::MulOp>(x, b.create<nn::TanhOp>(softplus(b, x)));
}

static FailureOr<Value> importSoftsign(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  return b.create<nn::DivOp>(x, shift(b, b.create<nn::AbsOp>(x), 1.0));
}

static FailureOr<Value> importSwish(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  Value scaled = b.scale(x, node.getFloat("alpha", 1.0));
  return b.create<nn::MulOp>(x, b.create<nn::SigmoidOp>(scaled));
}

static FailureOr<Value> importGelu(OnnxNode &node) {
  StringRef form = node.getString("approximate", "none");
  if (form != "none" && form != "tanh")
    return node.emitError()
           << "has approximation '" << form << "', which is not supported";
  return node.getBuilder().create<nn::GeluOp>(
      node.operand(0), form == "tanh" ? nn::GeluForm::Tanh : nn::GeluForm::Erf);
}

/// com.microsoft: a GELU of the sum of two operands, of which one may be
/// missing.
template <nn::GeluForm form>
static FailureOr<Value> importBiasGelu(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  if (node.hasOperand(1)) {
    SmallVector<Value> values{x, node.operand(1)};
    if (failed(node.broadcastTogether(values)))
      return failure();
    x = b.create<nn::AddOp>(values[0], values[1]);
  }
  return b.create<nn::GeluOp>(x, form);
}

static FailureOr<Value> importQuickGelu(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  Value scaled = b.scale(x, node.getFloat("alpha", 1.702));
  return b.create<nn::MulOp>(x, b.create<nn::SigmoidOp>(scaled));
}

namespace pipewright {
void registerActivation(OnnxOpRegistry &registry) {
  registry.add("Celu", /*since=*/12, 1, importCelu);
  registry.add("Elu", /*since=*/6, 1, importElu);
  registry.add("Gelu", /*since=*/20, 1, importGelu);
  registry.add("HardSigmoid", /*since=*/6, 1, importHardSigmoid);
  registry.add("HardSwish", /*since=*/14, 1, importHardSwish);
  registry.add("LeakyRelu", /*since=*/6, 1, importLeakyRelu);
  registry.add("Mish", /*since=*/18, 1, importMish);
  registry.add("PRelu", /*since=*/7, 2, importPRelu);
  registry.add("Selu", /*since=*/6, 1, importSelu);
  registry.add("Shrink", /*since=*/9, 1, importShrink);
  registry.add("Softplus", /*since=*/1, 1, importSoftplus);
  registry.add("Softsign", /*since=*/1, 1, importSoftsign);
  registry.add("Swish", /*since=*/24, 1, importSwish);
  registry.add("ThresholdedRelu", /*since=*/10, 1, importThresholdedRelu);

  registry.setDomain("com.microsoft");
  registry.add("Gelu", /*since=*/1, 1, importBiasGelu<nn::GeluForm::Erf>);
  registry.add("BiasGelu", /*since=*/1, 2, importBiasGelu<nn::GeluForm::Erf>);
  registry.add("FastGelu", /*since=*/1, {1, 2},
               importBiasGelu<nn::GeluForm::Tanh>);
  registry.add("QuickGelu", /*since=*/1, 1, importQuickGelu);
}
} // namespace pipewright
