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
  if (auto computed = dyn_cast_if_present<bufferization::ToTensorOp>(op))
    return computed.getWritable() &&
           computed.getBuffer().getDefiningOp<memref::AllocOp>();
  auto producer = dyn_cast_if_present<DestinationStyleOpInterface>(op);
  return producer && llvm::all_of(producer.getDpsInits(), [&](Value init) {
           // It may have been computed over its own operand.
           return init.getDefiningOp<tensor::EmptyOp>() ||
                  isScratchUntil(init, producer);
         });
}

/// The operand over which \p op may write result number \p result, or none.
static OpOperand *findReusable(linalg::GenericOp op, OpOperand &init) {
  if (op.getNumParallelLoops() != op.getNumLoops() ||
      !init.get().getDefiningOp<tensor::EmptyOp>())
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
        isReadAlong(operand->get()) && isScratchUntil(operand->get(), op))
      return operand;
  return nullptr;
}

namespace {
struct ReuseOperands : pipewright::impl::ReuseOperandsBase<ReuseOperands> {
  void runOnOperation() override {
    getOperation().walk([](linalg::GenericOp op) {
      llvm::SmallDenseSet<Value> taken;
      for (OpOperand &init : op.getDpsInitsMutable()) {
        OpOperand *operand = findReusable(op, init);
        if (operand && taken.insert(operand->get()).second)
          init.set(operand->get());
      }
    });
  }
};
} // namespace
