//===- ReuseOperands.cpp - Elementwise results where an operand was
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace pipewright {
#define GEN_PASS_DEF_REUSEOPERANDS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

using bufferization::MaterializeInDestinationOp;
using bufferization::ToTensorOp;

/// Whether \p value is the same memory as its operand, seen otherwise.
static bool isReshape(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

/// Whether nothing but \p user, and what comes before it, uses \p value.
static bool diesAt(Value value, Operation *user) {
  return llvm::all_of(value.getUsers(), [&](Operation *other) {
    return other == user || (other->getBlock() == user->getBlock() &&
                             other->isBeforeInBlock(user));
  });
}

/// Whether the memory of \p value belongs to it alone and may be overwritten
/// by \p user: it was computed into a tensor of the function's own.
static bool isScratchUntil(Value value, Operation *user) {
  if (!diesAt(value, user))
    return false;
  Operation *op = value.getDefiningOp();
  while (op && isReshape(op)) {
    // Another view would see what is written.
    if (!diesAt(op->getOperand(0), op))
      return false;
    op = op->getOperand(0).getDefiningOp();
  }
  // What code on buffers computed, such as a library's.
  if (auto computed = dyn_cast_if_present<ToTensorOp>(op))
    return computed.getWritable() &&
           computed.getBuffer().getDefiningOp<memref::AllocOp>();
  auto producer = dyn_cast_if_present<DestinationStyleOpInterface>(op);
  return producer && llvm::all_of(producer.getDpsInits(), [&](Value init) {
           // It may have been computed over its own operand.
           return init.getDefiningOp<tensor::EmptyOp>() ||
                  isScratchUntil(init, producer);
         });
}

/// The operand over which \p op may write what \p init becomes, or none.
static OpOperand *findReusable(linalg::GenericOp op, OpOperand &init) {
  if (op.getNumParallelLoops() != op.getNumLoops())
    return nullptr;
  AffineMap map = op.getMatchingIndexingMap(&init);
  if (!map.isPermutation())
    return nullptr;
  auto isReadAlong = [&](Value value) {
    return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
      return operand->get() != value ||
             op.getMatchingIndexingMap(operand) == map;
    });
  };
  for (OpOperand *operand : op.getDpsInputOperands())
    if (operand->get().getType() == init.get().getType() &&
        !llvm::is_contained(op.getDpsInits(), operand->get()) &&
        isReadAlong(operand->get()) && isScratchUntil(operand->get(), op))
      return operand;
  return nullptr;
}

/// Whether \p tensor is a buffer of the function for a result, which nothing
/// reads before.
static bool isResult(Value tensor) {
  auto init = tensor.getDefiningOp<ToTensorOp>();
  return init && init->hasOneUse() && isa<BlockArgument>(init.getBuffer()) &&
         llvm::all_of(init.getBuffer().getUsers(), [&](Operation *user) {
           return user == init || isa<MaterializeInDestinationOp>(user);
         });
}

/// Has what the library computes into a buffer of its own, seen as \p tensor,
/// computed into the one behind \p result instead, where this can be.
static void moveToResult(Value tensor, Value result) {
  Operation *op = tensor.getDefiningOp();
  while (isReshape(op) && op->getOperand(0).hasOneUse())
    op = op->getOperand(0).getDefiningOp();
  auto computed = dyn_cast<ToTensorOp>(op);
  auto alloc = computed ? computed.getBuffer().getDefiningOp<memref::AllocOp>()
                        : nullptr;
  if (!alloc || llvm::any_of(alloc->getUsers(), [&](Operation *user) {
        return user != computed && !isa<memref::ReinterpretCastOp>(user);
      }))
    return;
  auto init = result.getDefiningOp<ToTensorOp>();
  init->moveAfter(computed);
  // Casts forget the shape, which may be another.
  alloc.getResult().replaceUsesWithIf(init.getBuffer(), [](OpOperand &use) {
    return isa<memref::ReinterpretCastOp>(use.getOwner());
  });
  tensor.replaceAllUsesWith(result);
}

/// Has \p op write over an operand what \p init becomes, if it may.
static void reuseOperand(linalg::GenericOp op, OpOperand &init) {
  OpOperand *operand = findReusable(op, init);
  if (!operand)
    return;
  if (init.get().getDefiningOp<tensor::EmptyOp>())
    init.set(operand->get());
  else if (isResult(init.get()))
    moveToResult(operand->get(), init.get());
}

namespace {
struct ReuseOperands : pipewright::impl::ReuseOperandsBase<ReuseOperands> {
  void runOnOperation() override {
    getOperation().walk([](linalg::GenericOp op) {
      for (OpOperand &init : op.getDpsInitsMutable())
        reuseOperand(op, init);
    });
  }
};
} // namespace
