//===- Reduction.cpp - Verifiers and folders of reductions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright::nn;

LogicalResult ReduceOp::verify() { return success(); }

OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) { return {}; }

LogicalResult CumulativeSumOp::verify() { return success(); }
