//===- Elementwise.cpp - Verifiers and folders of elementwise ops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright::nn;

OpFoldResult NegOp::fold(FoldAdaptor adaptor) { return {}; }

void PowOp::getCanonicalizationPatterns(RewritePatternSet &results,
                                        MLIRContext *context) {}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) { return {}; }
