//===- Shape.cpp - Work of ops that only move elements
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

/// Nothing is done when it runs: it is data, or another view of its operand.
template <typename OpTy>
static Work priceNothing(OpTy) {
  return {};
}

/// Reads what it writes, not all of its operand.
static Work priceSlice(nn::SliceOp op) {
  int64_t bytes = pp::getBytes(op.getType());
  return {/*flops=*/0, /*bytesRead=*/bytes, /*bytesWritten=*/bytes};
}

namespace pipewright {
void registerShape(FormulaRegistry &registry) {
  registry.add(priceNothing<nn::ConstantOp>);
  registry.add(priceNothing<nn::ReshapeOp>);
  registry.add(priceSlice);
  registry.addPerResultElement<nn::TransposeOp, nn::BroadcastOp, nn::ReverseOp,
                               nn::PadOp, nn::ConcatOp>(0);
}
} // namespace pipewright
