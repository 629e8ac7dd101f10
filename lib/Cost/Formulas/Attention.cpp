//===- Attention.cpp - Work of attention and rotary positions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/Attention.h"
#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

static int64_t countPairs(const nn::AttentionSizes &sizes) {
  int64_t pairs = sizes.keys;
  for (int64_t size : sizes.perHead(1))
    pairs *= size;
  return pairs;
}

/// For each pair of a query and a key \p products FLOPs of products of rows,
/// and \p others.
static Work pricePairs(Operation *op, const nn::AttentionSizes &sizes,
                       int64_t products, int64_t others) {
  int64_t pairs = countPairs(sizes);
  Work work = streamOperands(op, pairs * (products + others));
  work.vectorFlops = pairs * others;
  return work;
}

/// The scale, the mask, and a softmax (14).
static constexpr int64_t softmaxPerPair = 16;

/// Two products of rows and the softmax, and under a soft cap a hyperbolic
/// tangent and its two scales.
static Work priceAttention(nn::AttentionOp op) {
  nn::AttentionSizes sizes(op);
  return pricePairs(op, sizes, 2 * (sizes.size + sizes.valueSize),
                    softmaxPerPair + (op.getSoftcap() ? 12 : 0));
}

static Work priceWithStatistics(nn::AttentionWithStatisticsOp op) {
  nn::AttentionSizes sizes(op);
  return pricePairs(op, sizes, 2 * (sizes.size + sizes.valueSize),
                    softmaxPerPair);
}

/// Five products of rows; the scale twice, the mask, an exponential (10) and
/// two differences and a product around it. The sum for each query is not worth
/// counting.
static Work priceGradient(nn::AttentionGradOp op) {
  nn::AttentionSizes sizes(op);
  return pricePairs(op, sizes, 6 * sizes.size + 4 * sizes.valueSize, 16);
}

namespace pipewright {
void registerAttention(FormulaRegistry &registry) {
  registry.add(priceAttention);
  registry.add(priceWithStatistics);
  registry.add(priceGradient);
  // Two products and their sum.
  registry.addPerResultElement<nn::RotaryOp>(3);
}
} // namespace pipewright
