//===- Normalization.cpp - Softmax and layer norms
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

#include "Proto/Onnx.pb.h"

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

template <typename OpTy>
static FailureOr<Value> importSoftmax(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  ArrayRef<int64_t> shape = getShape(x);
  // Before operator set 13 all axes from `axis` on are one.
  bool isFlattened = node.getOpset() < 13;
  FailureOr<int64_t> axis =
      node.getAxis(node.getInt("axis", isFlattened ? 1 : -1), shape.size());
  if (failed(axis))
    return failure();
  if (!isFlattened || *axis == int64_t(shape.size()) - 1)
    return b.create<OpTy>(x, *axis);
  Value rows =
      b.reshape(x, {ShapedType::getNumElements(shape.take_front(*axis)),
                    ShapedType::getNumElements(shape.drop_front(*axis))});
  return b.reshape(b.create<OpTy>(rows, /*axis=*/1), shape);
}

//===----------------------------------------------------------------------===//
// Layer norms
//===----------------------------------------------------------------------===//

namespace {
/// The operands of a norm, in the type in which it is computed.
struct NormOperands {
  Value x, scale, bias;
  int64_t axis;
};
} // namespace

/// 16-bit operands are widened where attribute \p stash asks for it (by
/// default): the sums of a row need the digits.
static FailureOr<NormOperands> getNormOperands(OnnxNode &node, Value x,
                                               Value scale, Value bias,
                                               StringRef stash) {
  NNBuilder &b = node.getBuilder();
  ArrayRef<int64_t> shape = getShape(x);
  FailureOr<int64_t> axis = node.getAxis(node.getInt("axis", -1), shape.size());
  FailureOr<Type> computed =
      node.getElementType(node.getInt(stash, onnx::TensorProto::FLOAT));
  if (failed(axis) || failed(computed))
    return failure();
  Type element = getElementType(x);
  if (element.getIntOrFloatBitWidth() >= computed->getIntOrFloatBitWidth())
    computed = element;
  ArrayRef<int64_t> row = shape.drop_front(*axis);
  for (Value *operand : {&scale, &bias}) {
    if (!*operand)
      continue;
    if (getBroadcastShape(getShape(*operand), row) != SmallVector<int64_t>(row))
      return node.emitError() << "scales or shifts rows of " << x.getType()
                              << " by " << operand->getType();
    *operand = b.broadcast(b.cast(*operand, *computed), row);
  }
  return NormOperands{b.cast(x, *computed), scale, bias, *axis};
}

/// The type of a row's mean: 1 for each axis of the row.
static RankedTensorType getRowType(Value x, int64_t axis) {
  return getTensorType(x).clone(getShape(x).take_front(axis));
}

static Value keepRowAxes(NNBuilder &b, Value perRow, Value x) {
  SmallVector<int64_t> shape(getShape(perRow));
  shape.resize(getTensorType(x).getRank(), 1);
  return b.reshape(perRow, shape);
}

/// Results 0 to 2: the normalized operand, the means and the inverse
/// deviations.
static LogicalResult normalize(OnnxNode &node, const NormOperands &operands,
                               Type element, double epsilon) {
  NNBuilder &b = node.getBuilder();
  RankedTensorType row = getRowType(operands.x, operands.axis);
  auto norm = b.create<nn::LayerNormOp>(
                   operands.x.getType(), row, row, operands.x, operands.scale,
                   operands.bias, operands.axis, llvm::APFloat(epsilon))
                  .getDefiningOp<nn::LayerNormOp>();
  node.setResult(0, b.cast(norm.getResult(), element));
  if (node.hasResult(1))
    node.setResult(1, keepRowAxes(b, norm.getMean(), operands.x));
  if (node.hasResult(2))
    node.setResult(2, keepRowAxes(b, norm.getInverseDeviation(), operands.x));
  return success();
}

static LogicalResult importLayerNorm(OnnxNode &node) {
  FailureOr<NormOperands> operands = getNormOperands(
      node, node.operand(0), node.operand(1), node.operand(2), "stash_type");
  if (failed(operands))
    return failure();
  return normalize(node, *operands, getElementType(node.operand(0)),
                   node.getFloat("epsilon", 1e-5));
}

/// Result 0 of an RMS norm.
static LogicalResult normalizeRMS(OnnxNode &node, const NormOperands &operands,
                                  Type element) {
  NNBuilder &b = node.getBuilder();
  Value result = b.create<nn::RMSNormOp>(
      operands.x.getType(), getRowType(operands.x, operands.axis), operands.x,
      operands.scale, operands.axis,
      llvm::APFloat(node.getFloat("epsilon", 1e-5)));
  node.setResult(0, b.cast(result, element));
  return success();
}

static LogicalResult importRMSNorm(OnnxNode &node) {
  FailureOr<NormOperands> operands = getNormOperands(
      node, node.operand(0), node.operand(1), Value(), "stash_type");
  if (failed(operands))
    return failure();
  return normalizeRMS(node, *operands, getElementType(node.operand(0)));
}

//===----------------------------------------------------------------------===//
// com.microsoft: a residual sum, then a norm
//===----------------------------------------------------------------------===//

/// The sum of two operands and a bias, which is the last result too.
static FailureOr<Value> addSkip(OnnxNode &node, Value bias) {
  NNBuilder &b = node.getBuilder();
  SmallVector<Value> values{node.operand(0), node.operand(1)};
  if (bias)
    values.push_back(bias);
  if (failed(node.broadcastTogether(values)))
    return failure();
  Value sum = b.create<nn::AddOp>(values[0], values[1]);
  if (bias)
    sum = b.create<nn::AddOp>(sum, values[2]);
  if (node.hasResult(3))
    node.setResult(3, sum);
  return sum;
}

static LogicalResult importSkipLayerNorm(OnnxNode &node) {
  FailureOr<Value> sum = addSkip(node, node.operand(4));
  if (failed(sum))
    return failure();
  FailureOr<NormOperands> operands = getNormOperands(
      node, *sum, node.operand(2), node.operand(3), "stash_type");
  if (failed(operands))
    return failure();
  return normalize(node, *operands, getElementType(*sum),
                   node.getFloat("epsilon", 1e-12));
}

static LogicalResult importSkipRMSNorm(OnnxNode &node) {
  FailureOr<Value> sum = addSkip(node, node.operand(3));
  if (failed(sum))
    return failure();
  FailureOr<NormOperands> operands =
      getNormOperands(node, *sum, node.operand(2), Value(), "stash_type");
  if (failed(operands))
    return failure();
  return normalizeRMS(node, *operands, getElementType(*sum));
}

namespace pipewright {
void registerNormalization(OnnxOpRegistry &registry) {
  registry.add("Softmax", /*since=*/1, 1, importSoftmax<nn::SoftmaxOp>);
  registry.add("LogSoftmax", /*since=*/1, 1, importSoftmax<nn::LogSoftmaxOp>);
  // ONNX Runtime's exporters put norms into ONNX's domain before ONNX did.
  registry.add("LayerNormalization", /*since=*/1, {2, 3}, importLayerNorm);
  registry.add("SimplifiedLayerNormalization", /*since=*/1, 2, importRMSNorm);
  registry.add("RMSNormalization", /*since=*/23, 2, importRMSNorm);

  registry.setDomain("com.microsoft");
  registry.add("SimplifiedLayerNormalization", /*since=*/1, 2, importRMSNorm);
  registry.add("SkipLayerNormalization", /*since=*/1, {3, 5},
               importSkipLayerNorm);
  registry.add("SkipSimplifiedLayerNormalization", /*since=*/1, {3, 4},
               importSkipRMSNorm);
}
} // namespace pipewright
