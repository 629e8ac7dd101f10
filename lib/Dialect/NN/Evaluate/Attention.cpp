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

/// The logarithm of the sum of the exponentials of \p scores.
static double getStatistic(ArrayRef<double> scores) {
  double maximum = -INFINITY, sum = 0;
  for (double score : scores)
    maximum = std::max(maximum, score);
  for (double score : scores)
    sum += std::exp(score - maximum);
  return maximum + std::log(sum);
}

namespace {
/// What one query of an op meets.
struct Row {
  template <typename OpTy>
  Row(OpTy op, const AttentionSizes &sizes, ArrayRef<HostTensor> operands,
      int64_t row)
      : index(row), group(row / (sizes.queries * sizes.headsPerGroup)),
        seen(op.getCausal()
                 ? row % sizes.queries + sizes.keys - sizes.queries + 1
                 : sizes.keys),
        query(getRow(operands[0], row, sizes.size)),
        keys(getRow(operands[1], group, sizes.keys * sizes.size)),
        values(getRow(operands[2], group, sizes.keys * sizes.valueSize)) {}

  static ArrayRef<double> getRow(const HostTensor &tensor, int64_t row,
                                 int64_t size) {
    return tensor.getFloats().slice(row * size, size);
  }

  /// The product of the query and each key that it sees, times \p scale.
  SmallVector<double> getScores(double scale) const {
    SmallVector<double> scores;
    for (int64_t j = 0; j < seen; ++j) {
      double sum = 0;
      for (size_t k = 0; k < query.size(); ++k)
        sum += query[k] * keys[j * query.size() + k];
      scores.push_back(scale * sum);
    }
    return scores;
  }

  /// The position among all queries, and among all groups.
  int64_t index, group;
  /// How many of the keys the query sees.
  int64_t seen;
  ArrayRef<double> query, keys, values;
};
} // namespace

/// exp(score - \p statistic) for each score.
static SmallVector<double> getWeights(ArrayRef<double> scores,
                                      double statistic) {
  return llvm::map_to_vector(
      scores, [=](double score) { return std::exp(score - statistic); });
}

/// The weights of the keys that the query at \p index, [batch..., head,
/// query], sees.
static SmallVector<double> getWeights(AttentionOp op, const Row &row,
                                      ArrayRef<int64_t> index,
                                      const HostTensor *mask) {
  double scale = op.getScale().convertToDouble();
  double cap = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0;
  SmallVector<double> scores = row.getScores(scale);
  for (auto [j, score] : llvm::enumerate(scores)) {
    SmallVector<int64_t> position(index);
    position.push_back(j);
    score = (cap ? cap * std::tanh(score / cap) : score) +
            (mask ? getMaskAt(*mask, position) : 0);
  }
  SmallVector<double> weights = getWeights(scores, getStatistic(scores));
  if (mask)
    for (double &weight : weights)
      weight = std::isnan(weight) ? 0 : weight;
  return weights;
}

/// Calls `visit(index, position)` for each query.
template <typename Visitor>
static void forEachQuery(const AttentionSizes &sizes, Visitor visit) {
  SmallVector<int64_t> rows = sizes.perHead(1);
  rows.pop_back();
  forEachElement(rows, visit);
}

/// Adds the values that \p row sees to its row of \p result.
static void addValues(const Row &row, ArrayRef<double> weights,
                      HostTensor &result) {
  int64_t size = result.getShape().back();
  for (auto [j, weight] : llvm::enumerate(weights))
    for (int64_t k = 0; k < size; ++k)
      result.getFloats()[row.index * size + k] +=
          weight * row.values[j * size + k];
}

static void evaluateAttention(AttentionOp op, ArrayRef<HostTensor> operands,
                              HostTensor &result) {
  AttentionSizes sizes(op);
  const HostTensor *mask = op.getMask() ? &operands[3] : nullptr;
  forEachQuery(sizes, [&](ArrayRef<int64_t> index, int64_t position) {
    Row row(op, sizes, operands, position);
    addValues(row, getWeights(op, row, index, mask), result);
  });
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

static LogicalResult
evaluateWithStatistics(AttentionWithStatisticsOp op,
                       ArrayRef<HostTensor> operands,
                       MutableArrayRef<HostTensor> results) {
  AttentionSizes sizes(op);
  double scale = op.getScale().convertToDouble();
  forEachQuery(sizes, [&](ArrayRef<int64_t>, int64_t position) {
    Row row(op, sizes, operands, position);
    SmallVector<double> scores = row.getScores(scale);
    double statistic = getStatistic(scores);
    results[1].getFloats()[position] = statistic;
    addValues(row, getWeights(scores, statistic), results[0]);
  });
  return success();
}

static double getProduct(ArrayRef<double> lhs, ArrayRef<double> rhs) {
  double sum = 0;
  for (auto [a, b] : llvm::zip_equal(lhs, rhs))
    sum += a * b;
  return sum;
}

/// Adds \p factor times \p vector to row \p row of \p sums.
static void addScaled(HostTensor &sums, int64_t row, double factor,
                      ArrayRef<double> vector) {
  MutableArrayRef<double> sum =
      sums.getFloats().slice(row * vector.size(), vector.size());
  for (auto [to, from] : llvm::zip_equal(sum, vector))
    to += factor * from;
}

static LogicalResult evaluateGradient(AttentionGradOp op,
                                      ArrayRef<HostTensor> operands,
                                      MutableArrayRef<HostTensor> results) {
  AttentionSizes sizes(op);
  double scale = op.getScale().convertToDouble();
  forEachQuery(sizes, [&](ArrayRef<int64_t>, int64_t position) {
    Row row(op, sizes, operands.drop_front(), position);
    ArrayRef<double> dy = Row::getRow(operands[0], position, sizes.valueSize);
    double sum =
        getProduct(dy, Row::getRow(operands[4], position, sizes.valueSize));
    SmallVector<double> weights =
        getWeights(row.getScores(scale), operands[5].getFloats()[position]);
    for (auto [j, weight] : llvm::enumerate(weights)) {
      int64_t key = row.group * sizes.keys + j;
      double dWeight = getProduct(
          dy, row.values.slice(j * sizes.valueSize, sizes.valueSize));
      double dProduct = scale * weight * (dWeight - sum);
      addScaled(results[0], position, dProduct,
                row.keys.slice(j * sizes.size, sizes.size));
      addScaled(results[1], key, dProduct, row.query);
      addScaled(results[2], key, weight, dy);
    }
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Rotary positions
//===----------------------------------------------------------------------===//

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
  registry.addFallible<AttentionWithStatisticsOp>(evaluateWithStatistics);
  registry.addFallible<AttentionGradOp>(evaluateGradient);
  registry.add<RotaryOp>(evaluateRotary);
}
} // namespace pipewright::nn
