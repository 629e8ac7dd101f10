//===- Loops.cpp - Loop nests of what is sequential by nature
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loops.h"

#include "../Destination.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace pipewright;

/// \p tensor with elements of type \p element.
static Value castTensor(OpBuilder &builder, Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return nn::CastOp::create(builder, tensor.getLoc(), type.clone(element),
                            tensor);
}

LogicalResult pipewright::sumWidened(Operation *op, PatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type wide = getComputeType(type.getElementType());
  if (wide == type.getElementType())
    return rewriter.notifyMatchFailure(op, "sums are as wide as their terms");
  IRMapping operands;
  for (Value operand : op->getOperands())
    if (getElementTypeOrSelf(operand) == type.getElementType())
      operands.map(operand, castTensor(rewriter, operand, wide));
  Operation *widened = rewriter.clone(*op, operands);
  widened->getResult(0).setType(type.clone(wide));
  rewriter.replaceOp(
      op, castTensor(rewriter, widened->getResult(0), type.getElementType()));
  return success();
}

void pipewright::createLoops(
    Arithmetic &arith, ArrayRef<int64_t> shape,
    llvm::function_ref<void(Arithmetic &, ValueRange)> body) {
  auto getConstants = [&](ArrayRef<int64_t> values) {
    return llvm::map_to_vector(values, [&](int64_t value) -> Value {
      return arith.constantInt(arith.getIndexType(), value);
    });
  };
  SmallVector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
  scf::buildLoopNest(
      arith, arith.getLoc(), getConstants(zeros), getConstants(shape),
      getConstants(ones),
      [&](OpBuilder &nested, Location loc, ValueRange coordinates) {
        Arithmetic inner(loc, nested);
        body(inner, coordinates);
      });
}

/// Adds \p updates to \p destination, which the caller finishes.
static void addUpdates(Destination &destination, Value updates, Location loc,
                       PatternRewriter &rewriter, LocateFn locate) {
  auto type = cast<RankedTensorType>(updates.getType());
  Value source = destination.getReadBuffer(updates, rewriter);
  Arithmetic arith(loc, rewriter);
  if (!destination.accumulate)
    linalg::FillOp::create(arith, arith.constant(type.getElementType(), 0),
                           destination.buffer);
  auto body = [&](Arithmetic &inner, ValueRange coordinates) {
    SmallVector<Value> target = locate(inner, coordinates);
    Value update = inner.make<memref::LoadOp>(source, coordinates);
    Value sum = inner.make<memref::LoadOp>(destination.buffer, target);
    memref::StoreOp::create(inner, inner.add(sum, update), destination.buffer,
                            target);
  };
  createLoops(arith, type.getShape(), body);
}

void pipewright::addInto(Value result, Value updates, PatternRewriter &rewriter,
                         LocateFn locate) {
  Destination destination = takeDestination(result, rewriter);
  addUpdates(destination, updates, result.getLoc(), rewriter, locate);
  finishDestination(destination, result, rewriter);
}

void pipewright::addInto(Value result, Value updates, Value indices,
                         PatternRewriter &rewriter, LocateIndexedFn locate) {
  Destination destination = takeDestination(result, rewriter);
  Value buffer = destination.getReadBuffer(indices, rewriter);
  addUpdates(destination, updates, result.getLoc(), rewriter,
             [&](Arithmetic &arith, ValueRange coordinates) {
               return locate(arith, coordinates, buffer);
             });
  finishDestination(destination, result, rewriter);
}
