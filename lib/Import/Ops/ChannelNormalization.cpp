//===- ChannelNormalization.cpp - Norms of tensors with channels
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Axis 0 is the batch, axis 1 the channels, and the others are spatial.
//
//===----------------------------------------------------------------------===//

#include "../Windows.h"

#include "pipewright/Import/OnnxOpRegistry.h"

#include "Proto/Onnx.pb.h"

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Pieces of the formulas
//===----------------------------------------------------------------------===//

static LogicalResult checkHasChannels(OnnxNode &node) {
  if (getTensorType(node.operand(0)).getRank() >= 2)
    return success();
  return node.emitError() << "needs axes for batch and channels, not "
                          << node.operand(0).getType();
}

/// \p value, one element a channel, for each element of \p like.
static Value broadcastChannels(NNBuilder &b, Value value, Value like) {
  SmallVector<int64_t> shape(getTensorType(like).getRank(), 1);
  shape[1] = getShape(like)[1];
  return b.broadcast(b.reshape(value, shape), getShape(like));
}

static Value addScaled(NNBuilder &b, Value x, Value scale, Value bias) {
  Value scaled = b.create<nn::MulOp>(x, broadcastChannels(b, scale, x));
  return b.create<nn::AddOp>(scaled, broadcastChannels(b, bias, x));
}

/// Fails unless operand \p i has \p count elements.
static LogicalResult checkCount(OnnxNode &node, unsigned i, int64_t count) {
  RankedTensorType type = getTensorType(node.operand(i));
  if (type.getRank() == 1 && type.getDimSize(0) == count)
    return success();
  return node.emitError() << "has operand " << i << " of type " << type
                          << ", which needs " << count << " elements";
}

namespace {
/// An operand around its mean, and its (biased) variance, over some axes.
struct Statistics {
  Value mean, centered, variance;
};
} // namespace

static Statistics measure(NNBuilder &b, Value x, ArrayRef<int64_t> axes) {
  ArrayRef<int64_t> shape = getShape(x);
  Value mean = b.reduce(nn::Reduction::Mean, x, axes, /*keepAxes=*/true);
  Value centered = b.create<nn::SubOp>(x, b.broadcast(mean, shape));
  Value squares = b.create<nn::MulOp>(centered, centered);
  return {mean, centered,
          b.reduce(nn::Reduction::Mean, squares, axes, /*keepAxes=*/true)};
}

static Value inverseDeviation(NNBuilder &b, Value variance, double epsilon) {
  return b.create<nn::RsqrtOp>(
      b.create<nn::AddOp>(variance, b.splatLike(variance, epsilon)));
}

/// (x - mean) / sqrt(variance + epsilon) over \p axes.
static Value normalizeAxes(NNBuilder &b, Value x, ArrayRef<int64_t> axes,
                           double epsilon) {
  Statistics found = measure(b, x, axes);
  Value inverse = inverseDeviation(b, found.variance, epsilon);
  return b.create<nn::MulOp>(found.centered, b.broadcast(inverse, getShape(x)));
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// \p running moved towards \p found by what momentum leaves.
static Value moveTowards(NNBuilder &b, Value running, Value found,
                         double momentum) {
  Value shaped = b.reshape(found, getShape(running));
  return b.create<nn::AddOp>(b.scale(running, momentum),
                             b.scale(shaped, 1 - momentum));
}

/// With the statistics of the micro-batch, as GPipe does it.
static LogicalResult trainBatchNorm(OnnxNode &node, double epsilon) {
  NNBuilder &b = node.getBuilder();
  node.getContext().remarkOnce(
      "BatchNormalization takes its statistics from each micro-batch; the "
      "running ones are not updated");
  Value x = node.operand(0);
  SmallVector<int64_t> axes{0};
  llvm::append_range(axes, getSpatialAxes(x));
  Statistics found = measure(b, x, axes);
  Value inverse = inverseDeviation(b, found.variance, epsilon);
  Value normal =
      b.create<nn::MulOp>(found.centered, b.broadcast(inverse, getShape(x)));
  node.setResult(0, addScaled(b, normal, node.operand(1), node.operand(2)));
  double momentum = node.getFloat("momentum", 0.9);
  if (node.hasResult(1))
    node.setResult(1, moveTowards(b, node.operand(3), found.mean, momentum));
  if (node.hasResult(2))
    node.setResult(2,
                   moveTowards(b, node.operand(4), found.variance, momentum));
  return success();
}

/// PyTorch's newer exporter writes all batch norms as ones that infer, but also
/// what it has traced.
static bool didTrain(const OnnxNode &node) {
  StringRef traced = node.getMetadata("pkg.torch.onnx.fx_node");
  return traced.contains("_native_batch_norm_legit_functional") &&
         traced.contains(", True, ");
}

static bool trains(const OnnxNode &node) {
  if (node.getOpset() < 7)
    return node.getInt("is_test", 0) == 0;
  return node.getInt("training_mode", 0) != 0 || didTrain(node);
}

static LogicalResult importBatchNorm(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  // Of running statistics, which do not change here.
  node.leaveOut({"momentum", "is_test", "consumed_inputs"});
  if (failed(checkHasChannels(node)))
    return failure();
  if (node.getInt("spatial", 1) == 0)
    return node.emitError() << "has spatial=0, which is not supported";
  for (unsigned i = 1; i < 5; ++i)
    if (failed(checkCount(node, i, getShape(x)[1])))
      return failure();
  node.keepMadeUpFixed();
  // Running statistics are measured, not learned.
  node.getContext().keepFixed(node.operand(3));
  node.getContext().keepFixed(node.operand(4));
  double epsilon = node.getFloat("epsilon", 1e-5);
  if (trains(node))
    return trainBatchNorm(node, epsilon);

  Value mean = broadcastChannels(b, node.operand(3), x);
  Value inverse = inverseDeviation(b, node.operand(4), epsilon);
  Value normal = b.create<nn::MulOp>(b.create<nn::SubOp>(x, mean),
                                     broadcastChannels(b, inverse, x));
  node.setResult(0, addScaled(b, normal, node.operand(1), node.operand(2)));
  return success();
}

//===----------------------------------------------------------------------===//
// Norms within a sample
//===----------------------------------------------------------------------===//

static FailureOr<Value> importInstanceNorm(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  if (failed(checkHasChannels(node)) ||
      failed(checkCount(node, 1, getShape(x)[1])) ||
      failed(checkCount(node, 2, getShape(x)[1])))
    return failure();
  node.keepMadeUpFixed();
  Value normal =
      normalizeAxes(b, x, getSpatialAxes(x), node.getFloat("epsilon", 1e-5));
  return addScaled(b, normal, node.operand(1), node.operand(2));
}

/// One element a group (before operator set 21) as one a channel.
static Value expandGroups(NNBuilder &b, Value value, int64_t groups,
                          int64_t channels) {
  if (getShape(value)[0] == channels)
    return value;
  Value column = b.reshape(value, {groups, 1});
  return b.reshape(b.broadcast(column, {groups, channels / groups}),
                   {channels});
}

static FailureOr<Value> importGroupNorm(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  if (failed(checkHasChannels(node)))
    return failure();
  ArrayRef<int64_t> shape = getShape(x);
  int64_t channels = shape[1], groups = node.getInt("num_groups", 0);
  if (groups < 1 || channels % groups != 0)
    return node.emitError()
           << "makes " << groups << " groups of " << channels << " channels";
  int64_t count = node.getOpset() < 21 ? groups : channels;
  if (failed(checkCount(node, 1, count)) || failed(checkCount(node, 2, count)))
    return failure();
  node.keepMadeUpFixed();

  FailureOr<Type> stash =
      node.getElementType(node.getInt("stash_type", onnx::TensorProto::FLOAT));
  if (failed(stash))
    return failure();
  Type element = getElementType(x);
  Type computed = element.getIntOrFloatBitWidth() < 32 ? *stash : element;
  Value rows =
      b.reshape(b.cast(x, computed),
                {shape[0], groups,
                 ShapedType::getNumElements(shape.drop_front(1)) / groups});
  Value normal = normalizeAxes(b, rows, {2}, node.getFloat("epsilon", 1e-5));
  auto perChannel = [&](unsigned i) {
    return expandGroups(b, b.cast(node.operand(i), computed), groups, channels);
  };
  Value result =
      addScaled(b, b.reshape(normal, shape), perChannel(1), perChannel(2));
  return b.cast(result, element);
}

/// By the mean and the deviation over axes that the node names.
static FailureOr<Value> importMeanVarianceNorm(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  SmallVector<int64_t> axes =
      node.getInts("axes").value_or(SmallVector<int64_t>{0, 2, 3});
  if (failed(node.normalizeAxes(axes, getTensorType(x).getRank())))
    return failure();
  llvm::sort(axes);
  Statistics found = measure(b, x, axes);
  Value deviation = b.create<nn::SqrtOp>(found.variance);
  Value divisor = b.create<nn::AddOp>(deviation, b.splatLike(deviation, 1e-9));
  return b.create<nn::DivOp>(found.centered, b.broadcast(divisor, getShape(x)));
}

static FailureOr<Value> importLpNorm(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  int64_t power = node.getInt("p", 2);
  if (power != 1 && power != 2)
    return node.emitError() << "has p=" << power << ", which is not 1 or 2";
  FailureOr<int64_t> axis =
      node.getAxis(node.getInt("axis", -1), getTensorType(x).getRank());
  if (failed(axis))
    return failure();
  Value size = power == 1 ? b.create<nn::AbsOp>(x) : b.create<nn::MulOp>(x, x);
  Value norm = b.reduce(nn::Reduction::Sum, size, *axis, /*keepAxes=*/true);
  // What has no length stays as it is; the root has no gradient there.
  Value isZero = b.compare(nn::Comparison::Equal, norm, b.splatLike(norm, 0.0));
  norm = b.create<nn::SelectOp>(norm.getType(), isZero, b.splatLike(norm, 1.0),
                                norm);
  if (power == 2)
    norm = b.create<nn::SqrtOp>(norm);
  return b.create<nn::DivOp>(x, b.broadcast(norm, getShape(x)));
}

/// By the squares of `size` channels around each (Krizhevsky et al., ImageNet
/// Classification with Deep Convolutional Neural Networks, 2012).
static FailureOr<Value> importLRN(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  int64_t size = node.getInt("size", 0);
  if (failed(checkHasChannels(node)))
    return failure();
  RankedTensorType type = getTensorType(x);
  constexpr int64_t maxSize = 1 << 10;
  if (size < 1 || size > maxSize)
    return node.emitError() << "sums " << size << " channels";
  SmallVector<int64_t> none(type.getRank(), 0), before(none), after(none);
  SmallVector<int64_t> wide(type.getShape());
  before[1] = (size - 1) / 2;
  after[1] = size / 2;
  wide[1] += size - 1;
  Value padded =
      b.create<nn::PadOp>(type.clone(wide), b.create<nn::MulOp>(x, x), before,
                          after, none, llvm::APFloat(0.0));
  Value sum;
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (SmallVector<int64_t> offsets(none); offsets[1] < size; ++offsets[1]) {
    Value part = b.slice(padded, offsets, type.getShape(), strides);
    sum = sum ? b.create<nn::AddOp>(sum, part) : part;
  }
  Value base = b.scale(sum, node.getFloat("alpha", 1e-4) / size);
  base = b.create<nn::AddOp>(base, b.splatLike(x, node.getFloat("bias", 1.0)));
  Value divisor =
      b.create<nn::PowOp>(base, b.splatLike(x, node.getFloat("beta", 0.75)));
  return b.create<nn::DivOp>(x, divisor);
}

namespace pipewright {
void registerChannelNormalization(OnnxOpRegistry &registry) {
  registry.add("BatchNormalization", /*since=*/1, 5, importBatchNorm);
  registry.add("GroupNormalization", /*since=*/18, 3, importGroupNorm);
  registry.add("InstanceNormalization", /*since=*/6, 3, importInstanceNorm);
  registry.add("LRN", /*since=*/1, 1, importLRN);
  registry.add("LpNormalization", /*since=*/1, 1, importLpNorm);
  registry.add("MeanVarianceNormalization", /*since=*/9, 1,
               importMeanVarianceNorm);
}
} // namespace pipewright
