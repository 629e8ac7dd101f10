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

namespace {
/// The results of a layer norm, in the type in which it is computed.
struct Normalized {
  Value result, mean, inverseDeviation;
};
} // namespace

static Normalized normalize(OnnxNode &node, const NormOperands &operands,
                            double epsilon) {
  NNBuilder &b = node.getBuilder();
  RankedTensorType row = getRowType(operands.x, operands.axis);
  auto norm = b.create<nn::LayerNormOp>(
                   operands.x.getType(), row, row, operands.x, operands.scale,
                   operands.bias, operands.axis, llvm::APFloat(epsilon))
                  .getDefiningOp<nn::LayerNormOp>();
  return {norm.getResult(), keepRowAxes(b, norm.getMean(), operands.x),
          keepRowAxes(b, norm.getInverseDeviation(), operands.x)};
}

/// Results 0 to 2: the normalized operand, the means and the inverse
/// deviations.
static LogicalResult setNormalized(OnnxNode &node, const NormOperands &operands,
                                   Type element, double epsilon) {
  Normalized norm = normalize(node, operands, epsilon);
  node.setResult(0, node.getBuilder().cast(norm.result, element));
  node.setResult(1, norm.mean);
  node.setResult(2, norm.inverseDeviation);
  return success();
}

static LogicalResult importLayerNorm(OnnxNode &node) {
  node.keepMadeUpFixed();
  FailureOr<NormOperands> operands = getNormOperands(
      node, node.operand(0), node.operand(1), node.operand(2), "stash_type");
  if (failed(operands))
    return failure();
  return setNormalized(node, *operands, getElementType(node.operand(0)),
                       node.getFloat("epsilon", 1e-5));
}

/// Result 0 of an RMS norm, and as result \p i the inverse deviations.
static LogicalResult normalizeRMS(OnnxNode &node, const NormOperands &operands,
                                  Type element, double epsilon, unsigned i) {
  NNBuilder &b = node.getBuilder();
  auto norm = b.create<nn::RMSNormOp>(operands.x.getType(),
                                      getRowType(operands.x, operands.axis),
                                      operands.x, operands.scale, operands.axis,
                                      llvm::APFloat(epsilon))
                  .getDefiningOp<nn::RMSNormOp>();
  node.setResult(0, b.cast(norm.getResult(), element));
  if (node.hasResult(i))
    node.setResult(i, keepRowAxes(b, norm.getInverseDeviation(), operands.x));
  return success();
}

static LogicalResult importRMSNorm(OnnxNode &node) {
  node.keepMadeUpFixed();
  FailureOr<NormOperands> operands = getNormOperands(
      node, node.operand(0), node.operand(1), Value(), "stash_type");
  if (failed(operands))
    return failure();
  return normalizeRMS(node, *operands, getElementType(node.operand(0)),
                      node.getFloat("epsilon", 1e-5), /*i=*/1);
}

//===----------------------------------------------------------------------===//
// com.microsoft: a sum, then a norm
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
  return setNormalized(node, *operands, getElementType(*sum),
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
  // No mean is taken away.
  if (node.hasResult(1)) {
    NNBuilder &b = node.getBuilder();
    Value zeros = b.splat(getRowType(operands->x, operands->axis), 0.0);
    node.setResult(1, keepRowAxes(b, zeros, operands->x));
  }
  return normalizeRMS(node, *operands, getElementType(*sum),
                      node.getFloat("epsilon", 1e-12), /*i=*/2);
}

/// The sum of a word's embedding, its position's and its segment's.
static FailureOr<Value> addEmbeddings(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value words = node.operand(0), positions = node.operand(8);
  ArrayRef<int64_t> shape = getShape(words);
  if (shape.size() != 2)
    return node.emitError()
           << "needs words of [batch, length], not " << words.getType();
  if (!positions)
    positions = b.iota(getTensorType(words).clone({1, shape[1]}), /*axis=*/1);
  if (node.hasOperand(1) != node.hasOperand(4))
    return node.emitError()
           << "has only one of segment_ids and segment_embedding";
  SmallVector<Value> sum;
  std::pair<Value, Value> lookups[] = {{node.operand(2), words},
                                       {node.operand(3), positions},
                                       {node.operand(4), node.operand(1)}};
  for (auto [table, ids] : lookups) {
    if (!table)
      continue;
    RankedTensorType type = getTensorType(table);
    SmallVector<int64_t> looked(getShape(ids));
    if (type.getRank() != 2 || looked.size() != 2 || looked[1] != shape[1])
      return node.emitError()
             << "cannot look up " << ids.getType() << " in " << type;
    looked.push_back(type.getDimSize(1));
    sum.push_back(
        b.create<nn::GatherOp>(type.clone(looked), table, ids, /*axis=*/0));
  }
  if (failed(node.broadcastTogether(sum)))
    return failure();
  Value result = sum.front();
  for (Value embedding : ArrayRef<Value>(sum).drop_front())
    result = b.create<nn::AddOp>(result, embedding);
  return result;
}

/// How many elements of each sample's mask are 1; 0 without a mask.
static Value countWords(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Type element = b.getOpBuilder().getI32Type();
  Value mask = node.operand(7);
  if (!mask)
    return b.splat(
        RankedTensorType::get({getShape(node.operand(0))[0]}, element), 0.0);
  Value isWord = b.compare(nn::Comparison::Equal, mask, b.splatLike(mask, 1.0));
  return b.reduce(nn::Reduction::Sum, b.cast(isWord, element), /*axes=*/{1},
                  /*keepAxes=*/false);
}

/// Results: the norm, how many words each sample has, and the sum.
static LogicalResult importEmbedLayerNorm(OnnxNode &node) {
  for (unsigned needed : {2, 3, 5, 6})
    if (!node.hasOperand(needed))
      return node.emitError() << "lacks operand " << needed;
  FailureOr<Value> sum = addEmbeddings(node);
  if (failed(sum))
    return failure();
  if (Value mask = node.operand(7);
      mask && getShape(mask) != getShape(node.operand(0)))
    return node.emitError() << "has mask " << mask.getType() << " for words "
                            << node.operand(0).getType();
  FailureOr<NormOperands> operands = getNormOperands(
      node, *sum, node.operand(5), node.operand(6), "stash_type");
  if (failed(operands))
    return failure();
  Normalized norm = normalize(node, *operands, node.getFloat("epsilon", 1e-12));
  node.setResult(0, node.getBuilder().cast(norm.result, getElementType(*sum)));
  node.setResult(1, countWords(node));
  node.setResult(2, *sum);
  return success();
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
  registry.add("EmbedLayerNormalization", /*since=*/1, {1, 9},
               importEmbedLayerNorm);
}
} // namespace pipewright
