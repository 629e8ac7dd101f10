//===- Normalization.cpp - Verifiers of softmax and norms
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright::nn;

LogicalResult SoftmaxOp::verify() { return success(); }

LogicalResult LogSoftmaxOp::verify() { return success(); }

LogicalResult SoftmaxGradOp::verify() { return success(); }

LogicalResult LayerNormOp::verify() { return success(); }

LogicalResult LayerNormGradOp::verify() { return success(); }

LogicalResult RMSNormOp::verify() { return success(); }
