//===- Random.cpp - Dropout
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

/// The probability with which the node drops an element; 0 for a model that was
/// exported for inference.
static FailureOr<double> getRatio(OnnxNode &node) {
  // Before operand 'training_mode' a Dropout is the identity but for training,
  // and exporters leave it out of models that are to be trained.
  if (node.getOpset() < 12 || !node.hasOperand(2))
    return 0.0;
  FailureOr<double> isTraining = node.getNumber(2);
  if (failed(isTraining))
    return failure();
  if (*isTraining == 0.0)
    return 0.0;
  if (!node.hasOperand(1))
    return 0.5;
  FailureOr<double> ratio = node.getNumber(1);
  if (succeeded(ratio) && !(*ratio >= 0.0 && *ratio < 1.0))
    return node.emitError() << "drops elements with probability " << *ratio;
  return ratio;
}

static LogicalResult importDropout(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  // Random numbers are seeded for the whole model. What is not in training
  // drops nothing, at whatever ratio.
  node.leaveOut({"seed", "ratio", "is_test", "consumed_inputs"});
  Value x = node.operand(0);
  FailureOr<double> ratio = getRatio(node);
  if (failed(ratio))
    return failure();
  RankedTensorType maskType =
      getTensorType(x).clone(b.getOpBuilder().getI1Type());
  if (*ratio == 0.0) {
    node.setResult(0, x);
    if (node.hasResult(1))
      node.setResult(1, b.splat(maskType, 1));
    return success();
  }
  Value mask = b.create<nn::DropoutMaskOp>(
      x.getType(), node.getContext().getRandomKey(), llvm::APFloat(*ratio),
      node.getContext().takeRandomStream());
  node.setResult(0, b.create<nn::MulOp>(x, mask));
  if (node.hasResult(1))
    node.setResult(1, b.cast(mask, maskType.getElementType()));
  return success();
}

namespace pipewright {
void registerRandom(OnnxOpRegistry &registry) {
  registry.add("Dropout", /*since=*/1, {1, 3}, importDropout);
}
} // namespace pipewright
