//===- AttentionGraph.cpp - Attention as a graph of cuDNN -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionGraph.h"

#include <tuple>

using namespace pprt;
using namespace pprt::cuda;

using Sizes = CudnnGraph::Sizes;
using Tensor = CudnnGraph::Tensor;

bool AttentionShape::operator<(const AttentionShape &other) const {
  auto tie = [](const AttentionShape &s) {
    return std::tie(s.isGradient, s.type, s.keepsStatistics, s.isCausal,
                    s.batch, s.heads, s.groups, s.queries, s.keys, s.size,
                    s.valueSize);
  };
  return tie(*this) < tie(other);
}

std::string AttentionShape::describe() const {
  return std::string(isGradient ? "the gradient of " : "") +
         (isCausal ? "causal " : "") + "attention of " +
         (type == CUDNN_DATA_HALF ? "f16" : "bf16") + " in a batch of " +
         std::to_string(batch) + ", " + std::to_string(heads) + " head(s) in " +
         std::to_string(groups) + " group(s), " + std::to_string(queries) +
         " queries and " + std::to_string(keys) + " keys of " +
         std::to_string(size) + " and values of " + std::to_string(valueSize);
}

namespace {
class Builder {
public:
  Builder(const AttentionShape &shape, CudnnGraph &graph)
      : s(shape), graph(graph), factor(addNumber(AttentionOperand::Scale)) {}

  void addForward();
  void addGradient();

private:
  Tensor addOperand(AttentionOperand operand, cudnnDataType_t type,
                    const Sizes &sizes);
  Tensor addTransposed(AttentionOperand operand, const Sizes &sizes);
  Tensor addNumber(AttentionOperand operand,
                   cudnnDataType_t type = CUDNN_DATA_FLOAT);
  Tensor addValue(const Sizes &sizes, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  Tensor transpose(const Tensor &x);

  Tensor apply(cudnnPointwiseMode_t mode, const std::vector<Tensor> &operands,
               cudnnDataType_t type = CUDNN_DATA_FLOAT);
  Tensor scale(const Tensor &scores);
  Tensor mask(const Tensor &scores);
  Tensor reduce(cudnnReduceTensorOp_t how, const Tensor &x);
  void addSoftmax(const Tensor &scores, const Tensor &weights);

  Tensor addSums(const Tensor &gradient, const Tensor &result);
  void multiplyForKeys(const Tensor &scores, const Tensor &other,
                       AttentionOperand result, int64_t size);

  Sizes getScoreSizes() const { return {s.batch, s.heads, s.queries, s.keys}; }
  Sizes getRowSizes() const { return {s.batch, s.heads, s.queries, 1}; }
  Sizes getQuerySizes(int64_t size) const {
    return {s.batch, s.heads, s.queries, size};
  }
  Sizes getKeySizes(int64_t size) const {
    return {s.batch, s.groups, s.keys, size};
  }

  const AttentionShape &s;
  CudnnGraph &graph;
  Tensor factor; ///< of the scores
};
} // namespace

static Sizes getPacked(const Sizes &sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

static Sizes swapLast(const Sizes &sizes) {
  return {sizes[0], sizes[1], sizes[3], sizes[2]};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Tensor Builder::addOperand(AttentionOperand operand, cudnnDataType_t type,
                           const Sizes &sizes) {
  return graph.addBuffer(static_cast<int64_t>(operand), type, sizes,
                         getPacked(sizes));
}

/// Of sizes before it is transposed.
Tensor Builder::addTransposed(AttentionOperand operand, const Sizes &sizes) {
  return graph.addBuffer(static_cast<int64_t>(operand), s.type, swapLast(sizes),
                         swapLast(getPacked(sizes)));
}

Tensor Builder::addNumber(AttentionOperand operand, cudnnDataType_t type) {
  return graph.addNumber(static_cast<int64_t>(operand), type);
}

Tensor Builder::addValue(const Sizes &sizes, cudnnDataType_t type) {
  return graph.addValue(type, sizes, getPacked(sizes));
}

Tensor Builder::transpose(const Tensor &x) {
  Tensor result =
      graph.addValue(s.type, swapLast(x.sizes), swapLast(x.strides));
  graph.view(x, result);
  return result;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Of the sizes of the first operand.
Tensor Builder::apply(cudnnPointwiseMode_t mode,
                      const std::vector<Tensor> &operands,
                      cudnnDataType_t type) {
  Tensor result = addValue(operands[0].sizes, type);
  graph.apply(mode, type, operands, result);
  return result;
}

Tensor Builder::scale(const Tensor &scores) {
  return apply(CUDNN_POINTWISE_MUL, {scores, factor});
}

/// The last query sees all keys, each other one a key less than the next.
Tensor Builder::mask(const Tensor &scores) {
  if (!s.isCausal)
    return scores;
  constexpr cudnnDataType_t integer = CUDNN_DATA_INT32;
  Tensor row = addValue(scores.sizes, integer);
  graph.count(scores, /*axis=*/2, row);
  Tensor column = addValue(scores.sizes, integer);
  graph.count(scores, /*axis=*/3, column);
  if (s.hasShiftedMask()) {
    row = apply(CUDNN_POINTWISE_ADD,
                {row, addNumber(AttentionOperand::Keys, integer)}, integer);
    row = apply(CUDNN_POINTWISE_SUB,
                {row, addNumber(AttentionOperand::Queries, integer)}, integer);
  }
  Tensor sees =
      apply(CUDNN_POINTWISE_CMP_GE, {row, column}, CUDNN_DATA_BOOLEAN);
  return apply(CUDNN_POINTWISE_BINARY_SELECT,
               {scores, addNumber(AttentionOperand::NoScore), sees});
}

/// Over the last axis.
Tensor Builder::reduce(cudnnReduceTensorOp_t how, const Tensor &x) {
  Tensor result = addValue(getRowSizes());
  graph.reduce(how, x, result);
  return result;
}

void Builder::addSoftmax(const Tensor &scores, const Tensor &weights) {
  Tensor most = reduce(CUDNN_REDUCE_TENSOR_MAX, scores);
  Tensor powers =
      apply(CUDNN_POINTWISE_EXP, {apply(CUDNN_POINTWISE_SUB, {scores, most})});
  Tensor sum = reduce(CUDNN_REDUCE_TENSOR_ADD, powers);
  // A part of what the library knows also if nobody wants it.
  Tensor statistics = s.keepsStatistics
                          ? addOperand(AttentionOperand::Statistics,
                                       CUDNN_DATA_FLOAT, getRowSizes())
                          : addValue(getRowSizes());
  graph.apply(CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT,
              {most, apply(CUDNN_POINTWISE_LOG, {sum})}, statistics);
  graph.apply(CUDNN_POINTWISE_DIV, CUDNN_DATA_FLOAT, {powers, sum}, weights);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void Builder::addForward() {
  Tensor query =
      addOperand(AttentionOperand::Query, s.type, getQuerySizes(s.size));
  Tensor key = addTransposed(AttentionOperand::Key, getKeySizes(s.size));
  Tensor scores = addValue(getScoreSizes());
  graph.multiply(query, key, scores);
  Tensor weights = addValue(getScoreSizes(), s.type);
  addSoftmax(mask(scale(scores)), weights);
  graph.multiply(
      weights,
      addOperand(AttentionOperand::Value, s.type, getKeySizes(s.valueSize)),
      addOperand(AttentionOperand::Result, s.type, getQuerySizes(s.valueSize)));
}

/// For each query, the products of the result with its gradient.
Tensor Builder::addSums(const Tensor &gradient, const Tensor &result) {
  Tensor sums = reduce(CUDNN_REDUCE_TENSOR_ADD,
                       apply(CUDNN_POINTWISE_MUL, {gradient, result}));
  Tensor kept = addOperand(AttentionOperand::GradientSums, CUDNN_DATA_FLOAT,
                           getRowSizes());
  graph.apply(CUDNN_POINTWISE_MUL, CUDNN_DATA_FLOAT,
              {sums, addNumber(AttentionOperand::One)}, kept);
  return kept;
}

/// result = transposed scores by \p other, added up over the heads of a group
void Builder::multiplyForKeys(const Tensor &scores, const Tensor &other,
                              AttentionOperand result, int64_t size) {
  Tensor columns = transpose(scores);
  Tensor sum = addOperand(result, s.type, getKeySizes(size));
  if (s.groups == s.heads)
    return graph.multiply(columns, other, sum);
  Tensor ofHeads = addValue({s.batch, s.heads, s.keys, size}, s.type);
  graph.multiply(columns, other, ofHeads);
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, ofHeads, sum);
}

void Builder::addGradient() {
  Tensor gradient = addOperand(AttentionOperand::Gradient, s.type,
                               getQuerySizes(s.valueSize));
  Tensor result =
      addOperand(AttentionOperand::Result, s.type, getQuerySizes(s.valueSize));
  Tensor sums = addSums(gradient, result);

  // The weights once more, of the scores and what was kept of them.
  Tensor query =
      addOperand(AttentionOperand::Query, s.type, getQuerySizes(s.size));
  Tensor key = addTransposed(AttentionOperand::Key, getKeySizes(s.size));
  Tensor scores = addValue(getScoreSizes());
  graph.multiply(query, key, scores);
  Tensor statistics =
      addOperand(AttentionOperand::Statistics, CUDNN_DATA_FLOAT, getRowSizes());
  Tensor weights =
      apply(CUDNN_POINTWISE_EXP,
            {mask(apply(CUDNN_POINTWISE_SUB, {scale(scores), statistics}))});
  multiplyForKeys(weights, gradient, AttentionOperand::ValueGradient,
                  s.valueSize);

  // The gradient for the scores.
  Tensor ofWeights = addValue(getScoreSizes());
  graph.multiply(
      gradient,
      addTransposed(AttentionOperand::Value, getKeySizes(s.valueSize)),
      ofWeights);
  Tensor ofScores =
      scale(apply(CUDNN_POINTWISE_MUL,
                  {apply(CUDNN_POINTWISE_SUB, {ofWeights, sums}), weights}));
  multiplyForKeys(ofScores, query, AttentionOperand::KeyGradient, s.size);
  graph.multiply(ofScores, transpose(key),
                 addOperand(AttentionOperand::QueryGradient, s.type,
                            getQuerySizes(s.size)));
}

void cuda::addAttention(const AttentionShape &shape, CudnnGraph &graph) {
  Builder builder(shape, graph);
  if (shape.isGradient)
    builder.addGradient();
  else
    builder.addForward();
}

std::optional<CudnnEngine>
cuda::findAttentionEngine(const AttentionShape &shape, int chip) {
  // For the gradient on Blackwell it proposes what is made for older devices.
  // Its front end knows of this one that it has the same bits each time; later
  // versions describe it in other ways.
  constexpr int firstChip = 100, lastChip = 103;
  constexpr size_t later = 92300;
  if (!shape.isGradient || chip < firstChip || chip > lastChip ||
      getCudnn().cudnnGetVersion() >= later)
    return std::nullopt;
  return CudnnEngine{
      5, {{CUDNN_KNOB_TYPE_KERNEL_CFG, 31}, {CUDNN_KNOB_TYPE_STAGES, 2}}};
}
