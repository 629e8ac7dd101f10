//===- Elementwise.cpp - One result element per operand element
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

#include "Proto/Onnx.pb.h"

#include <limits>

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

/// An operator whose one result follows from its operand.
template <typename OpTy>
static FailureOr<Value> importUnary(OnnxNode &node) {
  return node.getBuilder().create<OpTy>(node.operand(0));
}

static FailureOr<Value> importIdentity(OnnxNode &node) {
  return node.operand(0);
}

/// To the nearest integer; from the middle between two to the even one.
static FailureOr<Value> importRound(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  Value below = b.create<nn::FloorOp>(x);
  Value above = b.create<nn::AddOp>(below, b.splatLike(x, 1.0));
  Value fraction = b.create<nn::SubOp>(x, below);
  Value halved = b.scale(below, 0.5);
  Value isEven =
      b.compare(nn::Comparison::Equal, halved, b.create<nn::FloorOp>(halved));
  auto select = [&](Value condition, Value onTrue, Value onFalse) {
    return b.create<nn::SelectOp>(x.getType(), condition, onTrue, onFalse);
  };
  Value half = b.splatLike(x, 0.5);
  Value atMiddle = select(isEven, below, above);
  Value elsewhere =
      select(b.compare(nn::Comparison::Greater, fraction, half), above, below);
  return select(b.compare(nn::Comparison::Equal, fraction, half), atMiddle,
                elsewhere);
}

static FailureOr<Value> importIsInf(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto isEqual = [&](double value) {
    return b.compare(nn::Comparison::Equal, x, b.splatLike(x, value));
  };
  bool positive = node.getInt("detect_positive", 1) != 0;
  bool negative = node.getInt("detect_negative", 1) != 0;
  if (positive && negative)
    return b.create<nn::OrOp>(isEqual(infinity), isEqual(-infinity));
  if (positive || negative)
    return isEqual(positive ? infinity : -infinity);
  return b.splat(getTensorType(x).clone(b.getOpBuilder().getI1Type()), 0.0);
}

static FailureOr<Value> importIsNaN(OnnxNode &node) {
  return node.getBuilder().compare(nn::Comparison::NotEqual, node.operand(0),
                                   node.operand(0));
}

//===----------------------------------------------------------------------===//
// Binary and n-ary
//===----------------------------------------------------------------------===//

/// The operands of \p node, ready to be broadcast together by NumPy's rule.
/// Before operator set 7 the axes of the right one are those of the left one
/// from `axis` on.
static FailureOr<SmallVector<Value>> alignOperands(OnnxNode &node) {
  // All operators broadcast, as later versions do.
  node.leaveOut({"broadcast", "consumed_inputs"});
  SmallVector<Value> values(node.getOperands());
  if (llvm::is_contained(values, Value()))
    return node.emitError() << "leaves out an operand in the middle";
  if (node.getOpset() >= 7 || !node.hasAttribute("axis") || values.size() != 2)
    return values;
  int64_t rank = getTensorType(values[0]).getRank();
  SmallVector<int64_t> shape(getShape(values[1]));
  FailureOr<int64_t> axis = node.getAxis(node.getInt("axis", 0), rank);
  if (failed(axis))
    return failure();
  if (*axis + int64_t(shape.size()) > rank)
    return node.emitError() << "aligns " << values[1].getType() << " with axis "
                            << *axis << " of " << values[0].getType();
  shape.append(rank - *axis - shape.size(), 1);
  values[1] = node.getBuilder().reshape(values[1], shape);
  return values;
}

static FailureOr<SmallVector<Value>> broadcastOperands(OnnxNode &node) {
  FailureOr<SmallVector<Value>> values = alignOperands(node);
  if (failed(values) || failed(node.broadcastTogether(*values)))
    return failure();
  return values;
}

/// An operator on operands that are broadcast to one shape, from left to
/// right: `a + b + c` is `(a + b) + c`.
template <typename OpTy>
static FailureOr<Value> importNary(OnnxNode &node) {
  FailureOr<SmallVector<Value>> values = broadcastOperands(node);
  if (failed(values))
    return failure();
  Value result = values->front();
  for (Value value : ArrayRef<Value>(*values).drop_front())
    result = node.getBuilder().create<OpTy>(result, value);
  return result;
}

static FailureOr<Value> importMean(OnnxNode &node) {
  FailureOr<Value> sum = importNary<nn::AddOp>(node);
  if (failed(sum))
    return failure();
  return node.getBuilder().scale(*sum, 1.0 / node.getNumOperands());
}

template <nn::Comparison predicate>
static FailureOr<Value> importCompare(OnnxNode &node) {
  FailureOr<SmallVector<Value>> values = broadcastOperands(node);
  if (failed(values))
    return failure();
  return node.getBuilder().compare(predicate, (*values)[0], (*values)[1]);
}

static FailureOr<Value> importPow(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Type element = getElementType(node.operand(0));
  // The exponent may be of another type; nn.pow is for floating point.
  Type computed = isa<FloatType>(element)
                      ? element
                      : Float64Type::get(element.getContext());
  FailureOr<SmallVector<Value>> values = alignOperands(node);
  if (failed(values))
    return failure();
  for (Value &value : *values)
    value = b.cast(value, computed);
  if (failed(node.broadcastTogether(*values)))
    return failure();
  return b.cast(b.create<nn::PowOp>((*values)[0], (*values)[1]), element);
}

/// With `fmod` the remainder has the sign of the dividend.
static FailureOr<Value> importMod(OnnxNode &node) {
  if (node.getInt("fmod", 0) == 0)
    return importNary<nn::ModOp>(node);
  FailureOr<SmallVector<Value>> values = broadcastOperands(node);
  if (failed(values))
    return failure();
  NNBuilder &b = node.getBuilder();
  Value dividend = (*values)[0], divisor = (*values)[1];
  if (isa<IntegerType>(getElementType(dividend))) {
    Value quotient = b.create<nn::DivOp>(dividend, divisor);
    return b.create<nn::SubOp>(dividend,
                               b.create<nn::MulOp>(quotient, divisor));
  }
  Value positive = b.create<nn::AbsOp>(dividend);
  Value remainder = b.create<nn::ModOp>(positive, b.create<nn::AbsOp>(divisor));
  Value isNegative =
      b.compare(nn::Comparison::Less, dividend, b.splatLike(dividend, 0.0));
  return b.create<nn::SelectOp>(remainder.getType(), isNegative,
                                b.create<nn::NegOp>(remainder), remainder);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static FailureOr<Value> importCast(OnnxNode &node) {
  // For floats of 8 bits, which we do not have.
  node.leaveOut({"saturate"});
  if (!node.hasAttribute("to"))
    return node.emitError() << "lacks attribute 'to'";
  FailureOr<Type> element = node.getResultType(0, node.getInt("to", 0));
  if (failed(element))
    return failure();
  return node.getBuilder().cast(node.operand(0), *element);
}

static FailureOr<Value> importCastLike(OnnxNode &node) {
  node.leaveOut({"saturate"});
  node.setUnsignedBits(0, node.getContext().getUnsignedBits(node.operand(1)));
  return node.getBuilder().cast(node.operand(0),
                                getElementType(node.operand(1)));
}

static FailureOr<Value> importWhere(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  SmallVector<Value> values{node.operand(1), node.operand(2)};
  Value condition = node.operand(0);
  if (!getElementType(condition).isInteger(1))
    return node.emitError() << "has condition " << condition.getType()
                            << ", which is not boolean";
  if (failed(node.broadcastTogether(values)))
    return failure();
  std::optional<SmallVector<int64_t>> shape =
      getBroadcastShape(getShape(condition), getShape(values[0]));
  if (!shape)
    return node.emitError() << "cannot broadcast " << condition.getType()
                            << " with " << values[0].getType();
  Value onTrue = b.broadcast(values[0], *shape);
  condition = b.broadcast(condition, *shape);
  return b.create<nn::SelectOp>(onTrue.getType(), condition, onTrue,
                                b.broadcast(values[1], *shape));
}

/// The bound of a Clip: an attribute before operator set 11, then an operand.
static FailureOr<Value> getBound(OnnxNode &node, StringRef name, unsigned i) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  if (node.getOpset() < 11)
    return node.hasAttribute(name) ? b.splatLike(x, node.getFloat(name, 0.0))
                                   : Value();
  if (!node.hasOperand(i))
    return Value();
  SmallVector<Value> values{x, node.operand(i)};
  if (getTensorType(values[1]).getNumElements() != 1)
    return node.emitError()
           << "has bound " << values[1].getType() << ", which is not a number";
  values[1] = b.reshape(values[1], {});
  if (failed(node.broadcastTogether(values)))
    return failure();
  return values[1];
}

static FailureOr<Value> importClip(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  FailureOr<Value> low = getBound(node, "min", 1);
  FailureOr<Value> high = getBound(node, "max", 2);
  if (failed(low) || failed(high))
    return failure();
  Value result = node.operand(0);
  if (*low)
    result = b.create<nn::MaxOp>(result, *low);
  if (*high)
    result = b.create<nn::MinOp>(result, *high);
  return result;
}

static void registerUnary(OnnxOpRegistry &registry) {
  registry.add("Abs", /*since=*/6, 1, importUnary<nn::AbsOp>);
  registry.add("Ceil", /*since=*/6, 1, importUnary<nn::CeilOp>);
  registry.add("Cos", /*since=*/7, 1, importUnary<nn::CosOp>);
  registry.add("Erf", /*since=*/9, 1, importUnary<nn::ErfOp>);
  registry.add("Exp", /*since=*/6, 1, importUnary<nn::ExpOp>);
  registry.add("Floor", /*since=*/6, 1, importUnary<nn::FloorOp>);
  registry.add("Identity", /*since=*/1, 1, importIdentity);
  registry.add("IsInf", /*since=*/10, 1, importIsInf);
  registry.add("IsNaN", /*since=*/9, 1, importIsNaN);
  registry.add("Log", /*since=*/6, 1, importUnary<nn::LogOp>);
  registry.add("Neg", /*since=*/6, 1, importUnary<nn::NegOp>);
  registry.add("Not", /*since=*/1, 1, importUnary<nn::NotOp>);
  registry.add("Reciprocal", /*since=*/6, 1, importUnary<nn::ReciprocalOp>);
  registry.add("Relu", /*since=*/6, 1, importUnary<nn::ReluOp>);
  registry.add("Round", /*since=*/11, 1, importRound);
  registry.add("Sigmoid", /*since=*/6, 1, importUnary<nn::SigmoidOp>);
  registry.add("Sign", /*since=*/9, 1, importUnary<nn::SignOp>);
  registry.add("Sin", /*since=*/7, 1, importUnary<nn::SinOp>);
  registry.add("Sqrt", /*since=*/6, 1, importUnary<nn::SqrtOp>);
  registry.add("Tanh", /*since=*/6, 1, importUnary<nn::TanhOp>);
}

namespace pipewright {
void registerElementwise(OnnxOpRegistry &registry) {
  using nn::Comparison;
  constexpr int64_t unlimited = Arity::unlimited;
  registerUnary(registry);
  registry.add("Add", /*since=*/1, 2, importNary<nn::AddOp>);
  registry.add("Sub", /*since=*/1, 2, importNary<nn::SubOp>);
  registry.add("Mul", /*since=*/1, 2, importNary<nn::MulOp>);
  registry.add("Div", /*since=*/1, 2, importNary<nn::DivOp>);
  registry.add("And", /*since=*/1, 2, importNary<nn::AndOp>);
  registry.add("Or", /*since=*/1, 2, importNary<nn::OrOp>);
  registry.add("Xor", /*since=*/1, 2, importCompare<Comparison::NotEqual>);
  registry.add("Pow", /*since=*/1, 2, importPow);
  registry.add("Mod", /*since=*/10, 2, importMod);
  registry.add("Equal", /*since=*/1, 2, importCompare<Comparison::Equal>);
  registry.add("Less", /*since=*/1, 2, importCompare<Comparison::Less>);
  registry.add("Greater", /*since=*/1, 2, importCompare<Comparison::Greater>);
  registry.add("LessOrEqual", /*since=*/12, 2,
               importCompare<Comparison::LessOrEqual>);
  registry.add("GreaterOrEqual", /*since=*/12, 2,
               importCompare<Comparison::GreaterOrEqual>);
  registry.add("Max", /*since=*/1, {1, unlimited}, importNary<nn::MaxOp>);
  registry.add("Min", /*since=*/1, {1, unlimited}, importNary<nn::MinOp>);
  registry.add("Sum", /*since=*/1, {1, unlimited}, importNary<nn::AddOp>);
  registry.add("Mean", /*since=*/1, {1, unlimited}, importMean);
  registry.add("Cast", /*since=*/6, 1, importCast);
  registry.add("CastLike", /*since=*/15, 2, importCastLike);
  registry.add("Clip", /*since=*/6, {1, 3}, importClip);
  registry.add("Where", /*since=*/9, 3, importWhere);
}
} // namespace pipewright
