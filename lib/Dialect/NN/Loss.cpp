//===- Loss.cpp - Verifiers of losses
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace pipewright::nn;

/// Logits have a last axis of classes; labels have the others.
template <typename OpTy>
static LogicalResult verifyLogits(OpTy op) {
  ArrayRef<int64_t> logits = getShape(op.getLogits());
  if (logits.empty())
    return op.emitOpError("has logits without a class axis");
  return verifyShape(op, "tensor of labels", op.getLabels(),
                     logits.drop_back());
}

LogicalResult CrossEntropyOp::verify() { return verifyLogits(*this); }

LogicalResult CrossEntropyGradOp::verify() { return verifyLogits(*this); }
