//===- Convolution.cpp - Gradients of sliding windows
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

using namespace mlir;

namespace pipewright {

/// Each of the two ops is linear, and the other one is its transpose.
template <typename OpTy, typename TransposeTy>
static Value transposeGradient(OpTy op, Value dy, GradientBuilder &b) {
  return b.create<TransposeTy>(op.getOperand().getType(), dy, op.getStrides(),
                               op.getDilations());
}

void registerConvolution(GradientRegistry &registry) {
  registry.add<nn::Im2ColOp>(0, transposeGradient<nn::Im2ColOp, nn::Col2ImOp>);
  registry.add<nn::Col2ImOp>(0, transposeGradient<nn::Col2ImOp, nn::Im2ColOp>);
}

} // namespace pipewright
