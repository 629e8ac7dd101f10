//===- Loss.cpp - What losses compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorRegistry.h"

#include <cmath>

using namespace mlir;
using namespace pipewright::nn;

/// Fails for a label that names no class and is not ignored.
static LogicalResult verifyLabels(Operation *op, ArrayRef<int64_t> labels,
                                  int64_t ignored, int64_t classes) {
  for (int64_t label : labels)
    if (label != ignored && (label < 0 || label >= classes))
      return op->emitOpError("has label ")
             << label << ", but " << classes << " classes";
  return success();
}

/// Logarithm of the sum of exponentials of a row of logits.
static double logSumExp(ArrayRef<double> logits) {
  double maximum = *llvm::max_element(logits);
  double sum = 0;
  for (double logit : logits)
    sum += std::exp(logit - maximum);
  return maximum + std::log(sum);
}

static LogicalResult evaluateCrossEntropy(CrossEntropyOp op,
                                          ArrayRef<HostTensor> operands,
                                          MutableArrayRef<HostTensor> results) {
  ArrayRef<int64_t> labels = operands[1].getIntegers();
  int64_t classes = operands[0].getShape().back();
  int64_t ignored = op.getIgnoreIndex();
  if (failed(verifyLabels(op, labels, ignored, classes)))
    return failure();
  for (auto [item, label] : llvm::enumerate(labels)) {
    if (label == ignored)
      continue;
    ArrayRef<double> logits =
        operands[0].getFloats().slice(item * classes, classes);
    results[0].getFloats()[0] += logSumExp(logits) - logits[label];
    results[1].getFloats()[0] += 1;
  }
  return success();
}

static LogicalResult
evaluateCrossEntropyGrad(CrossEntropyGradOp op, ArrayRef<HostTensor> operands,
                         MutableArrayRef<HostTensor> results) {
  double cotangent = operands[0].getFloats()[0];
  ArrayRef<int64_t> labels = operands[2].getIntegers();
  int64_t classes = operands[1].getShape().back();
  int64_t ignored = op.getIgnoreIndex();
  if (failed(verifyLabels(op, labels, ignored, classes)))
    return failure();
  for (auto [item, label] : llvm::enumerate(labels)) {
    if (label == ignored)
      continue;
    ArrayRef<double> logits =
        operands[1].getFloats().slice(item * classes, classes);
    double normalizer = logSumExp(logits);
    for (int64_t c = 0; c < classes; ++c)
      results[0].getFloats()[item * classes + c] =
          cotangent * (std::exp(logits[c] - normalizer) - (c == label));
  }
  return success();
}

namespace pipewright::nn {
void registerLoss(EvaluatorRegistry &registry) {
  registry.addFallible<CrossEntropyOp>(evaluateCrossEntropy);
  registry.addFallible<CrossEntropyGradOp>(evaluateCrossEntropyGrad);
}
} // namespace pipewright::nn
