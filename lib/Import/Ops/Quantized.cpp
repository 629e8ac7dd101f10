//===- Quantized.cpp - Operators with quantized weights
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// They are known so that a model with them is refused for the right reason:
// what is rounded to a few bits has no gradient.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

static LogicalResult refuseQuantized(OnnxNode &node) {
  return node.emitError() << "has quantized weights, which cannot be trained; "
                             "export the model without quantization";
}

namespace pipewright {
void registerQuantized(OnnxOpRegistry &registry) {
  registry.setDomain("com.microsoft");
  for (StringRef name :
       {"GatherBlockQuantized", "MatMulBnb4", "MatMulNBits", "QMoE"})
    registry.add(name, /*since=*/1, {0, Arity::unlimited}, refuseQuantized);
}
} // namespace pipewright
