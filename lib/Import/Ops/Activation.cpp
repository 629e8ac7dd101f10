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

#include "../Activations.h"

#include "pipewright/Import/OnnxOpRegistry.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace pipewright;

namespace {

/// What an activation is computed from, be it a node or a part of one.
struct Source {
  OnnxNode &node;
  Value x;
  StringRef prefix; ///< of the names of attributes

  NNBuilder &getBuilder() const { return node.getBuilder(); }
  double getFloat(StringRef name, double otherwise) const {
    return node.getFloat((prefix + name).str(), otherwise);
  }
};

using ActivationFn = FailureOr<Value> (*)(const Source &source);

} // namespace

/// Imports an activation that is a node.
template <ActivationFn activate>
static FailureOr<Value> importActivation(OnnxNode &node) {
  return activate({node, node.operand(0), /*prefix=*/""});
}

//===----------------------------------------------------------------------===//
// Rectifiers
//===----------------------------------------------------------------------===//

Value pipewright::clampAbove(NNBuilder &b, Value x, double bound) {
  return b.create<nn::MinOp>(x, b.splatLike(x, bound));
}

Value pipewright::clamp(NNBuilder &b, Value x, double low, double high) {
  return clampAbove(b, b.create<nn::MaxOp>(x, b.splatLike(x, low)), high);
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

static FailureOr<Value> leakyRelu(const Source &source) {
  NNBuilder &b = source.getBuilder();
  Value x = source.x;
  Value zero = b.splatLike(x, 0.0);
  Value negative =
      b.scale(b.create<nn::MinOp>(x, zero), source.getFloat("alpha", 0.01));
  return b.create<nn::AddOp>(b.create<nn::ReluOp>(x), negative);
}

/// As LeakyRelu, with a slope that is an operand.
static FailureOr<Value> importPRelu(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  SmallVector<Value> values{x, node.operand(1)};
  // Before operator set 7 a list of slopes had one for each channel.
  int64_t rank = getTensorType(x).getRank();
  if (node.getOpset() < 7 && rank > 1 &&
      getTensorType(values[1]).getRank() == 1) {
    SmallVector<int64_t> shape(rank - 1, 1);
    shape[0] = getShape(values[1])[0];
    values[1] = b.reshape(values[1], shape);
  }
  if (failed(node.broadcastTogether(values)))
    return failure();
  if (getShape(values[0]) != getShape(x))
    return node.emitError() << "has a slope " << node.operand(1).getType()
                            << " for an operand " << x.getType();
  Value negative = b.create<nn::MulOp>(clampAbove(b, x, 0.0), values[1]);
  return b.create<nn::AddOp>(b.create<nn::ReluOp>(x), negative);
}

static FailureOr<Value> thresholdedRelu(const Source &source) {
  NNBuilder &b = source.getBuilder();
  Value x = source.x;
  return selectAbove(b, x, source.getFloat("alpha", 1.0), x,
                     b.splatLike(x, 0.0));
}

/// Towards zero by a bias where the operand is farther away than lambd.
static FailureOr<Value> shrink(const Source &source) {
  NNBuilder &b = source.getBuilder();
  Value x = source.x;
  double limit = source.getFloat("lambd", 0.5),
         bias = source.getFloat("bias", 0.0);
  Value isBelow = b.compare(nn::Comparison::Less, x, b.splatLike(x, -limit));
  Value inside = b.create<nn::SelectOp>(x.getType(), isBelow, shift(b, x, bias),
                                        b.splatLike(x, 0.0));
  return selectAbove(b, x, limit, shift(b, x, -bias), inside);
}

/// alpha * (e^(x / rate) - 1) below zero, x above, both times gamma.
static Value buildElu(NNBuilder &b, Value x, double alpha, double rate,
                      double gamma) {
  Value power = b.create<nn::ExpOp>(b.scale(clampAbove(b, x, 0.0), 1.0 / rate));
  Value low = b.scale(shift(b, power, -1.0), alpha);
  return b.scale(selectAbove(b, x, 0.0, x, low), gamma);
}

static FailureOr<Value> elu(const Source &source) {
  return buildElu(source.getBuilder(), source.x, source.getFloat("alpha", 1.0),
                  /*rate=*/1.0, /*gamma=*/1.0);
}

static FailureOr<Value> celu(const Source &source) {
  double alpha = source.getFloat("alpha", 1.0);
  if (alpha == 0)
    return source.node.emitError() << "divides by alpha, which is 0";
  return buildElu(source.getBuilder(), source.x, alpha, alpha,
                  /*gamma=*/1.0);
}

static FailureOr<Value> selu(const Source &source) {
  // From Klambauer et al., Self-Normalizing Neural Networks, 2017.
  return buildElu(source.getBuilder(), source.x,
                  source.getFloat("alpha", 1.67326319217681884765625),
                  /*rate=*/1.0,
                  source.getFloat("gamma", 1.05070102214813232421875));
}

//===----------------------------------------------------------------------===//
// Sigmoids and gates
//===----------------------------------------------------------------------===//

static Value buildHardSigmoid(NNBuilder &b, Value x, double alpha,
                              double beta) {
  return clamp(b, shift(b, b.scale(x, alpha), beta), 0.0, 1.0);
}

static FailureOr<Value> hardSigmoid(const Source &source) {
  return buildHardSigmoid(source.getBuilder(), source.x,
                          source.getFloat("alpha", 0.2),
                          source.getFloat("beta", 0.5));
}

static FailureOr<Value> hardSwish(const Source &source) {
  NNBuilder &b = source.getBuilder();
  Value x = source.x;
  return b.create<nn::MulOp>(x, buildHardSigmoid(b, x, 1.0 / 6, 0.5));
}

/// log(1 + e^x), which above this bound is x to the last digit of an f32.
static Value buildSoftplus(NNBuilder &b, Value x) {
  constexpr double bound = 20;
  Value power = b.create<nn::ExpOp>(clampAbove(b, x, bound));
  Value low = b.create<nn::LogOp>(shift(b, power, 1.0));
  return selectAbove(b, x, bound, x, low);
}

static FailureOr<Value> softplus(const Source &source) {
  return buildSoftplus(source.getBuilder(), source.x);
}

static FailureOr<Value> mish(const Source &source) {
  NNBuilder &b = source.getBuilder();
  Value x = source.x;
  return b.create<nn::MulOp>(x, b.create<nn::TanhOp>(buildSoftplus(b, x)));
}

static FailureOr<Value> softsign(const Source &source) {
  NNBuilder &b = source.getBuilder();
  Value x = source.x;
  return b.create<nn::DivOp>(x, shift(b, b.create<nn::AbsOp>(x), 1.0));
}

Value pipewright::swish(NNBuilder &b, Value x, double slope) {
  return b.create<nn::MulOp>(x, b.create<nn::SigmoidOp>(b.scale(x, slope)));
}

static FailureOr<Value> importSwish(OnnxNode &node) {
  return swish(node.getBuilder(), node.operand(0), node.getFloat("alpha", 1.0));
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
  return swish(node.getBuilder(), node.operand(0),
               node.getFloat("alpha", 1.702));
}

/// com.microsoft: the first half of a sum times the GELU of the second one.
static FailureOr<Value> importBiasSplitGelu(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  SmallVector<Value> values(node.getOperands());
  if (failed(node.broadcastTogether(values)))
    return failure();
  ArrayRef<int64_t> shape = getShape(values[0]);
  if (shape.empty() || shape.back() % 2 != 0)
    return node.emitError()
           << "cannot split " << values[0].getType() << " into halves";
  Value sum = b.create<nn::AddOp>(values[0], values[1]);
  int64_t axis = shape.size() - 1, half = shape.back() / 2;
  Value gate = b.create<nn::GeluOp>(b.sliceAxis(sum, axis, half, half),
                                    nn::GeluForm::Erf);
  return b.create<nn::MulOp>(b.sliceAxis(sum, axis, /*offset=*/0, half), gate);
}

//===----------------------------------------------------------------------===//
// Parts of fused operators
//===----------------------------------------------------------------------===//

/// An activation without attributes.
template <typename OpTy>
static FailureOr<Value> activate(const Source &source) {
  return source.getBuilder().create<OpTy>(source.x);
}

FailureOr<Value> pipewright::applyFusedActivation(OnnxNode &node, Value x) {
  StringRef name = node.getString("activation", "");
  if (name.empty())
    return x;
  ActivationFn fn = llvm::StringSwitch<ActivationFn>(name)
                        .Case("Celu", celu)
                        .Case("Elu", elu)
                        .Case("HardSigmoid", hardSigmoid)
                        .Case("LeakyRelu", leakyRelu)
                        .Case("Relu", activate<nn::ReluOp>)
                        .Case("Selu", selu)
                        .Case("Sigmoid", activate<nn::SigmoidOp>)
                        .Case("Softplus", softplus)
                        .Case("Softsign", softsign)
                        .Case("Tanh", activate<nn::TanhOp>)
                        .Case("ThresholdedRelu", thresholdedRelu)
                        .Default(nullptr);
  if (!fn)
    return node.emitError()
           << "has activation '" << name << "', which is not supported";
  return fn({node, x, /*prefix=*/"activation_"});
}

namespace pipewright {
void registerActivation(OnnxOpRegistry &registry) {
  registry.add("Celu", /*since=*/12, 1, importActivation<celu>);
  registry.add("Elu", /*since=*/6, 1, importActivation<elu>);
  registry.add("Gelu", /*since=*/20, 1, importGelu);
  registry.add("HardSigmoid", /*since=*/6, 1, importActivation<hardSigmoid>);
  registry.add("HardSwish", /*since=*/14, 1, importActivation<hardSwish>);
  registry.add("LeakyRelu", /*since=*/6, 1, importActivation<leakyRelu>);
  registry.add("Mish", /*since=*/18, 1, importActivation<mish>);
  registry.add("PRelu", /*since=*/1, 2, importPRelu);
  registry.add("Selu", /*since=*/6, 1, importActivation<selu>);
  registry.add("Shrink", /*since=*/9, 1, importActivation<shrink>);
  registry.add("Softplus", /*since=*/1, 1, importActivation<softplus>);
  registry.add("Softsign", /*since=*/1, 1, importActivation<softsign>);
  registry.add("Swish", /*since=*/24, 1, importSwish);
  registry.add("ThresholdedRelu", /*since=*/10, 1,
               importActivation<thresholdedRelu>);

  registry.setDomain("com.microsoft");
  registry.add("Gelu", /*since=*/1, 1, importBiasGelu<nn::GeluForm::Erf>);
  registry.add("BiasGelu", /*since=*/1, 2, importBiasGelu<nn::GeluForm::Erf>);
  registry.add("FastGelu", /*since=*/1, {1, 2},
               importBiasGelu<nn::GeluForm::Tanh>);
  registry.add("BiasSplitGelu", /*since=*/1, 2, importBiasSplitGelu);
  registry.add("QuickGelu", /*since=*/1, 1, importQuickGelu);
}
} // namespace pipewright
