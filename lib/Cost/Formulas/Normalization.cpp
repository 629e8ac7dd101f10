//===- Normalization.cpp - Work of softmax and layer norms
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

namespace pipewright {
void registerNormalization(FormulaRegistry &registry) {
  // Maximum, difference, exponential (10), sum, division.
  registry.addPerResultElement<nn::SoftmaxOp, nn::LogSoftmaxOp>(14);
  // Product and sum, then difference and product.
  registry.addPerResultElement<nn::SoftmaxGradOp>(4);
  // Sum; difference, square, sum; difference, product, scale, bias.
  registry.addPerResultElement<nn::LayerNormOp>(8);
  // n; g; two means (3); the result (4), each with its products.
  registry.addPerResultElement<nn::LayerNormGradOp>(11);
  // Square, sum; product, scale.
  registry.addPerResultElement<nn::RMSNormOp>(4);
}
} // namespace pipewright
