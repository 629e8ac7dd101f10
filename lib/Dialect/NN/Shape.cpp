//===- Shape.cpp - Verifiers and folders of shape ops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright::nn;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ReshapeOp::verify() { return success(); }

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) { return {}; }

LogicalResult TransposeOp::verify() { return success(); }

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) { return {}; }

LogicalResult BroadcastOp::verify() { return success(); }

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) { return {}; }

LogicalResult SliceOp::verify() { return success(); }

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) { return {}; }

LogicalResult ReverseOp::verify() { return success(); }

LogicalResult PadOp::verify() { return success(); }

LogicalResult ConcatOp::verify() { return success(); }

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) { return {}; }
