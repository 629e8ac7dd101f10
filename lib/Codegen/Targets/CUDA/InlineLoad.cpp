//===- InlineLoad.cpp - Loads of what an op before casts
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineLoad.h"

#include "ChunkEmitter.h"
#include "Launch.h"
#include "Memory.h"
#include "SimplifyOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;

/// Whether nothing but \p writer uses the allocation that \p buffer is.
static bool isOnlyWritten(Value buffer, Operation *writer) {
  SmallVector<Value> aliases = {getWholeBuffer(buffer)};
  if (!aliases.front().getDefiningOp<memref::AllocOp>())
    return false;
  while (!aliases.empty())
    for (Operation *user : aliases.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        aliases.push_back(user->getResult(0));
      else if (user != writer)
        return false;
    }
  return true;
}

static bool overlapsAny(Value buffer, ValueRange others) {
  return llvm::any_of(others, [&](Value other) {
    return mayOverlap(getMemory(buffer), getMemory(other));
  });
}

/// The op in front of \p user that makes each element that \p load reads of one
/// of another buffer, which is no wider, and whose elements are still the same;
/// null if there is none.
static linalg::GenericOp findProducer(memref::LoadOp load, Operation *user,
                                      ValueRange written) {
  Value buffer = load.getMemRef();
  auto op = dyn_cast_or_null<linalg::GenericOp>(findWriter(user, buffer));
  if (!op || op.getNumReductionLoops() > 0 || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() != 1 || op.hasIndexSemantics())
    return {};
  OpOperand &init = *op.getDpsInitsMutable().begin();
  auto input = dyn_cast<MemRefType>(op.getDpsInputs()[0].getType());
  Memory made = getMemory(init.get()), read = getMemory(buffer);
  bool isSame = made.isContiguous && read.isContiguous &&
                made.root == read.root && made.offset == read.offset &&
                made.bytes == read.bytes &&
                op.getMatchingIndexingMap(&init).isIdentity();
  if (!isSame || !input || op.payloadUsesValueFromOperand(&init) ||
      input.getElementTypeBitWidth() >
          load.getMemRefType().getElementTypeBitWidth() ||
      overlapsAny(op.getDpsInputs()[0], written) ||
      overlapsAny(op.getDpsInputs()[0], init.get()) ||
      findWriter(user, op.getDpsInputs()[0], op) != op.getOperation())
    return {};
  return op;
}

/// The indices of the loops of \p op where it makes the element that \p load
/// reads.
static SmallVector<Value> getLoopIndices(linalg::GenericOp op,
                                         memref::LoadOp load,
                                         ImplicitLocOpBuilder &builder) {
  ArrayRef<int64_t> shape = load.getMemRefType().getShape();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (shape == ArrayRef(extents))
    return SmallVector<Value>(load.getIndices());
  Value number = createIndex(builder, 0);
  for (auto [extent, index] : llvm::zip_equal(shape, load.getIndices()))
    number = multiplyAdd(builder, number, extent, index);
  return delinearize(builder, number, extents);
}

/// What \p op makes for the element that \p load reads.
static Value recompute(linalg::GenericOp op, memref::LoadOp load) {
  ImplicitLocOpBuilder builder(load.getLoc(), load);
  SmallVector<Value> indices = getLoopIndices(op, load, builder);
  OpOperand *input = op.getDpsInputOperands()[0];
  Value value = memref::LoadOp::create(
      builder, input->get(),
      applyMap(builder, op.getMatchingIndexingMap(input), indices));
  return cloneBody(builder, op, {value, Value()}, indices,
                   op.getBody()->getTerminator()->getOperands())[0];
}

Value cuda::inlineLoad(memref::LoadOp load, Operation *user,
                       ValueRange written) {
  linalg::GenericOp producer = findProducer(load, user, written);
  if (!producer)
    return {};
  Value value = recompute(producer, load);
  load.replaceAllUsesWith(value);
  load.erase();
  if (isOnlyWritten(producer.getDpsInits()[0], producer))
    producer.erase();
  return value;
}
