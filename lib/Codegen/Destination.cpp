//===- Destination.cpp - An op as code on buffers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Destination.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pipewright;
using bufferization::MaterializeInDestinationOp;

static MemRefType getBufferType(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// The buffer of \p tensor, which is about to be overwritten.
static Value getWriteBuffer(Value tensor, RewriterBase &rewriter) {
  if (auto toTensor = tensor.getDefiningOp<bufferization::ToTensorOp>())
    return toTensor.getBuffer();
  return bufferization::ToBufferOp::create(rewriter, tensor.getLoc(),
                                           getBufferType(tensor), tensor);
}

/// The use of \p result, in whatever shape, that copies it to a buffer of the
/// function, or null.
static MaterializeInDestinationOp findMaterialize(Value result) {
  for (Operation *user : result.getUsers()) {
    if (auto materialize = dyn_cast<MaterializeInDestinationOp>(user))
      return materialize;
    if (auto reshape = dyn_cast<nn::ReshapeOp>(user))
      if (auto materialize = findMaterialize(reshape.getResult()))
        return materialize;
  }
  return {};
}

Value pipewright::reshapeBuffer(Value buffer, Value tensor,
                                RewriterBase &rewriter) {
  MemRefType type = getBufferType(tensor);
  if (buffer.getType() == type)
    return buffer;
  return memref::ReinterpretCastOp::create(
      rewriter, tensor.getLoc(), type, buffer, /*offset=*/0, type.getShape(),
      computeSuffixProduct(type.getShape()));
}

Destination pipewright::takeDestination(Value result, RewriterBase &rewriter,
                                        bool canAccumulate) {
  Destination destination;
  nn::AccumulateOp accumulate;
  if (canAccumulate && result.hasOneUse())
    accumulate = dyn_cast<nn::AccumulateOp>(*result.user_begin());
  if (accumulate && accumulate.getAccumulator() != result) {
    rewriter.setInsertionPoint(accumulate);
    destination.buffer = getWriteBuffer(accumulate.getAccumulator(), rewriter);
    destination.accumulate = true;
    destination.written = accumulate;
    return destination;
  }

  Operation *op = result.getDefiningOp();
  rewriter.setInsertionPoint(op);
  destination.written = result;
  if (MaterializeInDestinationOp materialize = findMaterialize(result)) {
    destination.buffer = reshapeBuffer(materialize.getDest(), result, rewriter);
    rewriter.eraseOp(materialize);
    return destination;
  }
  destination.buffer =
      memref::AllocOp::create(rewriter, result.getLoc(), getBufferType(result));
  return destination;
}

/// Makes all users of \p result read \p destination.
static void replaceResult(const Destination &destination, Value result,
                          RewriterBase &rewriter) {
  // Else a later op may compute its result in a buffer that is still read.
  if (!destination.reads.empty())
    nn::KeepOp::create(rewriter, result.getLoc(), destination.reads);
  // Nobody else knows a new buffer, so what uses the result may reuse it; a
  // buffer of the function keeps the result.
  bool writable = destination.accumulate ||
                  destination.buffer.getDefiningOp<memref::AllocOp>();
  Value written = bufferization::ToTensorOp::create(
      rewriter, result.getLoc(), result.getType(), destination.buffer,
      /*restrict=*/true, writable);
  rewriter.replaceAllUsesWith(destination.written, written);
  if (destination.accumulate)
    rewriter.eraseOp(destination.written.getDefiningOp());
}

void pipewright::finishDestination(Destination destination, Value result,
                                   RewriterBase &rewriter) {
  Operation *op = result.getDefiningOp();
  replaceResult(destination, result, rewriter);
  rewriter.eraseOp(op);
}

void pipewright::finishDestinations(ArrayRef<Destination> destinations,
                                    Operation *op, RewriterBase &rewriter) {
  for (auto [destination, result] :
       llvm::zip_equal(destinations, op->getResults()))
    replaceResult(destination, result, rewriter);
  rewriter.eraseOp(op);
}

Value Destination::getReadBuffer(Value tensor, RewriterBase &rewriter) {
  reads.push_back(tensor);
  return bufferization::ToBufferOp::create(rewriter, tensor.getLoc(),
                                           getBufferType(tensor), tensor,
                                           /*read_only=*/true);
}

void pipewright::eraseDead(ArrayRef<Value> values, RewriterBase &rewriter) {
  SetVector<Operation *> ops;
  auto add = [&](ValueRange values) {
    for (Value value : values)
      if (Operation *op = value.getDefiningOp())
        ops.insert(op);
  };
  add(values);
  while (!ops.empty()) {
    Operation *op = ops.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    add(op->getOperands());
    rewriter.eraseOp(op);
  }
}
