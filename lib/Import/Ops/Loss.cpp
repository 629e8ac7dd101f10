//===- Loss.cpp - Losses that a model computes itself
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

#include <numeric>

using namespace mlir;
using namespace pipewright;

namespace {

enum class LossReduction { None, Sum, Mean };

/// A loss of class labels, with the classes moved to the last axis.
struct ClassLoss {
  Value scores;  ///< logits or log-probabilities, [..., classes]
  Value labels;  ///< [...]
  Value weights; ///< [classes], or null
  std::optional<int64_t> ignored;
  LossReduction reduction;
};

} // namespace

static FailureOr<ClassLoss> getClassLoss(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  RankedTensorType scores = getTensorType(node.operand(0));
  RankedTensorType labels = getTensorType(node.operand(1));
  SmallVector<int64_t> expected(scores.getShape());
  if (expected.size() >= 2)
    expected.erase(expected.begin() + 1);
  if (scores.getRank() < 2 || labels.getShape() != ArrayRef(expected))
    return node.emitError() << "has scores " << scores << " and labels "
                            << labels << ", whose shapes do not agree";
  ClassLoss loss;
  SmallVector<int64_t> permutation = getAllAxes(scores.getRank());
  std::rotate(permutation.begin() + 1, permutation.begin() + 2,
              permutation.end());
  loss.scores = b.transpose(node.operand(0), permutation);
  loss.labels = node.operand(1);
  loss.weights = node.operand(2);
  if (loss.weights &&
      getTensorType(loss.weights) != scores.clone({scores.getDimSize(1)}))
    return node.emitError() << "has weights " << loss.weights.getType()
                            << " for " << scores.getDimSize(1) << " classes";
  if (node.hasAttribute("ignore_index"))
    loss.ignored = node.getInt("ignore_index", 0);
  StringRef reduction = node.getString("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return node.emitError()
           << "has reduction '" << reduction << "', which is not supported";
  loss.reduction = reduction == "mean"  ? LossReduction::Mean
                   : reduction == "sum" ? LossReduction::Sum
                                        : LossReduction::None;
  return loss;
}

/// The element of \p values, [..., classes], that each label names.
static Value pickClass(NNBuilder &b, Value values, Value labels) {
  ArrayRef<int64_t> shape = getShape(values);
  int64_t last = shape.size() - 1;
  auto type = RankedTensorType::get(shape, getElementType(labels));
  SmallVector<int64_t> kept(getShape(labels));
  kept.push_back(1);
  Value isLabel = b.compare(nn::Comparison::Equal,
                            b.broadcast(b.reshape(labels, kept), shape),
                            b.iota(type, last));
  Value picked = b.create<nn::SelectOp>(values.getType(), isLabel, values,
                                        b.splatLike(values, 0.0));
  return b.reduce(nn::Reduction::Sum, picked, {last}, /*keepAxes=*/false);
}

/// How much each label counts: the weight of its class, and 0 if ignored.
static Value getLabelWeights(NNBuilder &b, const ClassLoss &loss) {
  ArrayRef<int64_t> shape = getShape(loss.scores);
  RankedTensorType type =
      getTensorType(loss.scores).clone(getShape(loss.labels));
  Value weights =
      loss.weights ? pickClass(b, b.broadcast(loss.weights, shape), loss.labels)
                   : b.splat(type, 1.0);
  if (!loss.ignored)
    return weights;
  Value counts = b.compare(nn::Comparison::NotEqual, loss.labels,
                           b.splatLike(loss.labels, *loss.ignored));
  return b.create<nn::SelectOp>(type, counts, weights, b.splat(type, 0.0));
}

/// The negative log-likelihood of labels, term by term as ONNX defines it.
static Value spellOut(NNBuilder &b, const ClassLoss &loss,
                      Value logProbabilities) {
  Value weights = getLabelWeights(b, loss);
  Value picked = pickClass(b, logProbabilities, loss.labels);
  Value terms = b.create<nn::NegOp>(b.create<nn::MulOp>(picked, weights));
  if (loss.reduction == LossReduction::None)
    return terms;
  SmallVector<int64_t> axes = getAllAxes(getTensorType(terms).getRank());
  Value sum = b.reduce(nn::Reduction::Sum, terms, axes, /*keepAxes=*/false);
  if (loss.reduction == LossReduction::Sum)
    return sum;
  return b.create<nn::DivOp>(
      sum, b.reduce(nn::Reduction::Sum, weights, axes, /*keepAxes=*/false));
}

/// The same in one op, for labels that all weigh 1.
static Value createCrossEntropy(NNBuilder &b, const ClassLoss &loss) {
  Type scalar = RankedTensorType::get({}, getElementType(loss.scores));
  // PyTorch's default, which is no class, where the model ignores none.
  int64_t ignored = loss.ignored.value_or(-100);
  Value sum = b.create<nn::CrossEntropyOp>(scalar, scalar, loss.scores,
                                           loss.labels, ignored);
  if (loss.reduction == LossReduction::Sum)
    return sum;
  Value weight = sum.getDefiningOp<nn::CrossEntropyOp>().getWeight();
  return b.create<nn::DivOp>(sum, weight);
}

static bool isPlain(const ClassLoss &loss) {
  return !loss.weights && loss.reduction != LossReduction::None;
}

static LogicalResult importSoftmaxCrossEntropy(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  FailureOr<ClassLoss> loss = getClassLoss(node);
  if (failed(loss))
    return failure();
  if (node.hasResult(1))
    node.setResult(1, b.create<nn::LogSoftmaxOp>(node.operand(0), /*axis=*/1));
  if (isPlain(*loss)) {
    node.setResult(0, createCrossEntropy(b, *loss));
    return success();
  }
  int64_t last = getTensorType(loss->scores).getRank() - 1;
  Value logProbabilities = b.create<nn::LogSoftmaxOp>(loss->scores, last);
  node.setResult(0, spellOut(b, *loss, logProbabilities));
  return success();
}

static FailureOr<Value> importNegativeLogLikelihood(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  FailureOr<ClassLoss> loss = getClassLoss(node);
  if (failed(loss))
    return failure();
  // Of a log-softmax over the classes it is the cross entropy, which keeps less
  // for its gradient.
  auto softmax = node.operand(0).getDefiningOp<nn::LogSoftmaxOp>();
  if (softmax && softmax.getAxis() == 1 && isPlain(*loss) &&
      getTensorType(loss->scores).getRank() == 2) {
    loss->scores = softmax.getOperand();
    return createCrossEntropy(b, *loss);
  }
  return spellOut(b, *loss, loss->scores);
}

namespace pipewright {
void registerLoss(OnnxOpRegistry &registry) {
  registry.add("NegativeLogLikelihoodLoss", /*since=*/12, {2, 3},
               importNegativeLogLikelihood);
  registry.add("SoftmaxCrossEntropyLoss", /*since=*/12, {2, 3},
               importSoftmaxCrossEntropy);
}
} // namespace pipewright
