//===- Convolution.cpp - Work of sliding windows
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

/// The zero image is written; then each window element is added to it.
static Work priceCol2Im(nn::Col2ImOp op) {
  int64_t windows = pp::getBytes(op.getOperand().getType());
  return {/*flops=*/countElements(op.getOperand()),
          /*bytesRead=*/2 * windows,
          /*bytesWritten=*/pp::getBytes(op.getType()) + windows};
}

namespace pipewright {
void registerConvolution(FormulaRegistry &registry) {
  registry.addPerResultElement<nn::Im2ColOp>(0);
  registry.add(priceCol2Im);
}
} // namespace pipewright
