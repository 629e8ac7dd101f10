//===- Attention.cpp - What attention and rotary positions compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorRegistry.h"
#include "Indexing.h"

#include "pipewright/Dialect/NN/Attention.h"

#include <cmath>

using namespace mlir;
using namespace pipewright::nn;

/// The mask's element for a score; axes of size 1 are repeated.
static double getMaskAt(const HostTensor &mask, ArrayRef<int64_t> score) {
  SmallVector<int64_t> index(score);
  for (auto [axis, size] : llvm::enumerate(mask.getShape()))
    if (size == 1)
      index[axis] = 0;
  return mask.getFloats()[linearize(index, mask.getShape())];
}

/// Turns scores into weights.
static void applySoftmax(MutableArrayRef<double> scores) {
  double maximum = -INFINITY, sum = 0;
  for (double score : scores)
    maximum = std::max(maximum, score);
  for (double &score : scores)
    sum += score = std::exp(score - maximum);
  for (double &score : scores)
    score /= sum;
}

/// The weights of the keys that the query at \p index, [batch..., head,
/// query], sees; \p query and \p keys are its operands' rows.
static SmallVector<double>
getWeights(AttentionOp op, const AttentionSizes &sizes, ArrayRef<int64_t> index,
           ArrayRef<double> query, ArrayRef<double> keys,
           const HostTensor *mask) {
  double scale = op.getScale().convertToDouble();
  double cap = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0;
  int64_t seen = op.getCausal() ? index.back() + sizes.keys - sizes.queries + 1
                                : sizes.keys;
  SmallVector<double> scores;
  for (int64_t j = 0; j < seen; ++j) {
    double sum = 0;
    for (int64_t k = 0; k < sizes.size; ++k)
      sum += query[k] * keys[j * sizes.size + k];
    SmallVector<int64_t> position(index);
    position.push_back(j);
    double score = cap ? cap * std::tanh(scale * sum / cap) : scale * sum;
    scores.push_back(score + (mask ? getMaskAt(*mask, position) : 0));
  }
  applySoftmax(scores);
  if (mask)
    for (double &weight : scores)
      weight = std::isnan(weight) ? 0 : weight;
  return scores;
}

static void evaluateAttention(AttentionOp op, ArrayRef<HostTensor> operands,
                              HostTensor &result) {
  AttentionSizes sizes(op);
  SmallVector<int64_t> rows = sizes.perHead(1);
  rows.pop_back();
  const HostTensor *mask = op.getMask() ? &operands[3] : nullptr;
  forEachElement(rows, [&](ArrayRef<int64_t> index, int64_t row) {
    int64_t group = row / (sizes.queries * sizes.headsPerGroup);
    auto getGroup = [&](const HostTensor &tensor, int64_t size) {
      return tensor.getFloats().slice(group * sizes.keys * size,
                                      sizes.keys * size);
    };
    ArrayRef<double> query =
        operands[0].getFloats().slice(row * sizes.size, sizes.size);
    SmallVector<double> weights = getWeights(
        op, sizes, index, query, getGroup(operands[1], sizes.size), mask);
    ArrayRef<double> values = getGroup(operands[2], sizes.valueSize);
    for (auto [j, weight] : llvm::enumerate(weights))
      for (int64_t k = 0; k < sizes.valueSize; ++k)
        result.getFloats()[row * sizes.valueSize + k] +=
            weight * values[j * sizes.valueSize + k];
  });
}

static void evaluateRotary(RotaryOp op, ArrayRef<HostTensor> operands,
                           HostTensor &result) {
  ArrayRef<double> x = operands[0].getFloats(), c = operands[1].getFloats(),
                   s = operands[2].getFloats();
  int64_t size = result.getShape().back(), half = size / 2;
  for (int64_t position = 0; position < result.getNumElements(); ++position) {
    int64_t k = position % size;
    bool isFirst = op.getInterleaved() ? k % 2 == 0 : k < half;
    int64_t distance = op.getInterleaved() ? 1 : half;
    double rotated = isFirst ? -x[position + distance] : x[position - distance];
    result.getFloats()[position] =
        x[position] * c[position] + rotated * s[position];
  }
}

namespace pipewright::nn {
void registerAttention(EvaluatorRegistry &registry) {
  registry.add<AttentionOp>(evaluateAttention);
  registry.add<RotaryOp>(evaluateRotary);
}
} // namespace pipewright::nn
