//===- Constant.cpp - Operators whose results are known
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

#include "Proto/Onnx.pb.h"

#include <cmath>

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

/// A range is held in memory, which a wrong number must not exhaust.
constexpr int64_t maxRange = int64_t(1) << 24;

static FailureOr<Value> importConstant(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  OpBuilder &builder = b.getOpBuilder();
  if (const AttributeProto *value = node.findAttribute("value"))
    return node.getContext().importConstant(value->t(), node.getResultName(0));
  if (node.hasAttribute("value_int"))
    return b.constant(
        DenseElementsAttr::get(RankedTensorType::get({}, builder.getI64Type()),
                               node.getInt("value_int", 0)));
  if (node.hasAttribute("value_float"))
    return b.scalar(builder.getF32Type(), node.getFloat("value_float", 0));
  if (std::optional<SmallVector<int64_t>> ints = node.getInts("value_ints"))
    return b.integers(*ints);
  if (const AttributeProto *floats = node.findAttribute("value_floats")) {
    SmallVector<float> values(floats->floats().begin(), floats->floats().end());
    auto type =
        RankedTensorType::get({int64_t(values.size())}, builder.getF32Type());
    return b.constant(DenseElementsAttr::get(type, ArrayRef<float>(values)));
  }
  return node.emitError() << "has no value of a kind that is supported";
}

static FailureOr<Value> importConstantOfShape(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  FailureOr<SmallVector<int64_t>> shape = node.getIntegers(0);
  if (failed(shape))
    return failure();
  for (int64_t size : *shape)
    if (size < 0)
      return node.emitError() << "has a dimension of size " << size;
  const AttributeProto *value = node.findAttribute("value");
  if (!value)
    return b.broadcast(b.scalar(b.getOpBuilder().getF32Type(), 0.0), *shape);
  FailureOr<Value> one = node.getContext().importConstant(value->t(), "value");
  if (failed(one))
    return failure();
  if (getTensorType(*one).getNumElements() != 1)
    return node.emitError()
           << "has value " << one->getType() << ", which is not one number";
  node.setUnsignedBits(0, node.getContext().getUnsignedBits(*one));
  return b.broadcast(b.reshape(*one, {}), *shape);
}

/// How many numbers there are from \p start to \p limit, \p delta apart.
static std::optional<int64_t> countRange(double start, double limit,
                                         double delta) {
  double count = std::ceil((limit - start) / delta);
  if (std::isnan(count) || count > double(maxRange))
    return std::nullopt;
  return int64_t(std::max(0.0, count));
}

static FailureOr<Value> importRange(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  FailureOr<double> start = node.getNumber(0);
  FailureOr<double> limit = node.getNumber(1);
  FailureOr<double> delta = node.getNumber(2);
  if (failed(start) || failed(limit) || failed(delta))
    return failure();
  std::optional<int64_t> count = countRange(*start, *limit, *delta);
  if (!count)
    return node.emitError()
           << "goes from " << *start << " to " << *limit << " by " << *delta;
  Type element = getElementType(node.operand(0));
  auto type = RankedTensorType::get({*count}, element);
  Value numbers = b.iota(type, 0);
  return b.create<nn::AddOp>(
      b.create<nn::MulOp>(numbers, b.splat(type, *delta)),
      b.splat(type, *start));
}

/// Ones on a diagonal of a matrix of the operand's shape.
static FailureOr<Value> importEyeLike(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  RankedTensorType type = getTensorType(node.operand(0));
  if (type.getRank() != 2)
    return node.emitError() << "needs a matrix, not " << type;
  FailureOr<Type> element = type.getElementType();
  if (node.hasAttribute("dtype"))
    element = node.getResultType(0, node.getInt("dtype", 0));
  if (failed(element))
    return failure();
  auto positions = type.clone(b.getOpBuilder().getI64Type());
  Value diagonal = b.create<nn::AddOp>(b.iota(positions, 0),
                                       b.splat(positions, node.getInt("k", 0)));
  return b.cast(
      b.compare(nn::Comparison::Equal, diagonal, b.iota(positions, 1)),
      *element);
}

static FailureOr<Value> importShape(OnnxNode &node) {
  node.setUnsignedBits(0, 0);
  ArrayRef<int64_t> shape = getShape(node.operand(0));
  int64_t rank = shape.size();
  auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = clamp(node.getInt("start", 0));
  int64_t end = clamp(node.getInt("end", rank));
  return node.getBuilder().integers(
      shape.slice(start, std::max<int64_t>(0, end - start)));
}

static FailureOr<Value> importSize(OnnxNode &node) {
  node.setUnsignedBits(0, 0);
  NNBuilder &b = node.getBuilder();
  return b.reshape(
      b.integers({getTensorType(node.operand(0)).getNumElements()}), {});
}

namespace pipewright {
void registerConstant(OnnxOpRegistry &registry) {
  registry.add("Constant", /*since=*/1, 0, importConstant);
  registry.add("ConstantOfShape", /*since=*/9, 1, importConstantOfShape);
  registry.add("EyeLike", /*since=*/9, 1, importEyeLike);
  registry.add("Range", /*since=*/11, 3, importRange);
  registry.add("Shape", /*since=*/1, 1, importShape);
  registry.add("Size", /*since=*/1, 1, importSize);
}
} // namespace pipewright
