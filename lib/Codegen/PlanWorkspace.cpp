//===- PlanWorkspace.cpp - Temporary buffers in one workspace
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferBytes.h"

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Program/Arena.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

namespace pipewright {
#define GEN_PASS_DEF_PLANWORKSPACE
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

/// From the first to the last op of the function's block that touches \p alloc
/// or an alias of it. A buffer used in a loop is needed during all of it.
static Lifetime getLifetime(memref::AllocOp alloc, Block &block,
                            const DenseMap<Operation *, int64_t> &steps,
                            const BufferViewFlowAnalysis &aliases) {
  Lifetime lifetime;
  auto include = [&](Operation *op) {
    lifetime.include(steps.lookup(block.findAncestorOpInBlock(*op)));
  };
  include(alloc);
  for (Value alias : aliases.resolve(alloc))
    for (Operation *user : alias.getUsers())
      include(user);
  return lifetime;
}

static LogicalResult verifyAllocation(memref::AllocOp alloc) {
  if (alloc.getType().hasStaticShape() &&
      alloc.getType().getLayout().isIdentity())
    return success();
  return alloc.emitOpError("has no place in the workspace: its type is ")
         << alloc.getType();
}

/// Adds the workspace as the last argument.
static Value addWorkspace(func::FuncOp function, int64_t bytes) {
  Builder builder(function.getContext());
  auto type = MemRefType::get({bytes}, builder.getI8Type());
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(LLVM::LLVMDialect::getNoAliasAttrName(),
                            builder.getUnitAttr()),
       builder.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(),
                            builder.getI64IntegerAttr(arenaAlignment))});
  unsigned index = function.getNumArguments();
  if (failed(
          function.insertArgument(index, type, attributes, function.getLoc())))
    return {};
  return function.getArgument(index);
}

namespace {
struct PlanWorkspace : pipewright::impl::PlanWorkspaceBase<PlanWorkspace> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    Block &block = function.getBody().front();
    DenseMap<Operation *, int64_t> steps;
    for (auto [step, op] : llvm::enumerate(block))
      steps[&op] = step;

    BufferViewFlowAnalysis aliases(function);
    SmallVector<memref::AllocOp> allocs;
    SmallVector<ArenaBuffer> buffers;
    WalkResult walk = function.walk([&](memref::AllocOp alloc) {
      if (failed(verifyAllocation(alloc)))
        return WalkResult::interrupt();
      allocs.push_back(alloc);
      buffers.push_back({getBytes(alloc.getType()),
                         getLifetime(alloc, block, steps, aliases)});
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();

    Packing plan = packBuffers(buffers);
    Value workspace = addWorkspace(function, plan.bytes);
    if (!workspace)
      return signalPassFailure();
    OpBuilder builder = OpBuilder::atBlockBegin(&block);
    for (auto [alloc, offset] : llvm::zip_equal(allocs, plan.offsets)) {
      Value shift =
          arith::ConstantIndexOp::create(builder, alloc.getLoc(), offset);
      Value view =
          memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(),
                                 workspace, shift, /*sizes=*/ValueRange());
      alloc.replaceAllUsesWith(view);
    }
    // Not before: the builder stands at one of them.
    for (memref::AllocOp alloc : allocs)
      alloc.erase();
  }
};
} // namespace
