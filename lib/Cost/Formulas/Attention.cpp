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

/// For each pair of query and key two products of rows, the scale, the mask and
/// a softmax (14), and under a soft cap a hyperbolic tangent and its two
/// scales.
static Work priceAttention(nn::AttentionOp op) {
  nn::AttentionSizes sizes(op);
  int64_t pairs = sizes.keys;
  for (int64_t size : sizes.perHead(1))
    pairs *= size;
  // The scale, the mask, and a softmax.
  int64_t vectorPerPair = 16;
  if (op.getSoftcap())
    vectorPerPair += 12;
  int64_t perPair = 2 * (sizes.size + sizes.valueSize) + vectorPerPair;
  Work work = streamOperands(op, pairs * perPair);
  work.vectorFlops = pairs * vectorPerPair;
  return work;
}

namespace pipewright {
void registerAttention(FormulaRegistry &registry) {
  registry.add(priceAttention);
  // Two products and their sum.
  registry.addPerResultElement<nn::RotaryOp>(3);
}
} // namespace pipewright
