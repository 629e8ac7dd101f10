//===- LowerToKernels.cpp - linalg ops on buffers as kernels
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitKernels.h"
#include "HostBlocks.h"
#include "KernelPlans.h"
#include "SimplifyOps.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace pipewright {
#define GEN_PASS_DEF_LOWERTOKERNELS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;

namespace {
/// Lowers a block of a function in which other blocks are lowered already.
class BlockLowering {
public:
  BlockLowering(Block &block, Launcher &launcher)
      : block(block), launcher(launcher) {}

  LogicalResult lower() {
    IRRewriter rewriter(block.getParentOp()->getContext());
    if (failed(simplifyOps(block, rewriter)))
      return failure();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        if (failed(lowerStores()))
          return failure();
        run.push_back(generic);
        continue;
      }
      if (auto store = dyn_cast<memref::StoreOp>(op)) {
        if (failed(lowerRun()))
          return failure();
        stores.push_back(store);
        continue;
      }
      // Buffers, views and constants are nowhere in time.
      if (isPure(&op) || isa<memref::AllocOp>(op))
        continue;
      if (failed(lowerRun()) || failed(lowerStores()))
        return failure();
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        ImplicitLocOpBuilder builder(loop.getLoc(), loop);
        if (failed(emitLoops(loop, launcher, builder)))
          return failure();
        loop.erase();
      } else if (auto loops = dyn_cast<scf::ParallelOp>(op)) {
        ImplicitLocOpBuilder builder(loops.getLoc(), loops);
        if (failed(emitParallel(loops, launcher, builder)))
          return failure();
        loops.erase();
      }
    }
    if (failed(lowerRun()) || failed(lowerStores()))
      return failure();
    return eraseLoads();
  }

private:
  /// Lowers the ops since the last that is none of them.
  LogicalResult lowerRun() {
    for (const KernelPlan &plan : planKernels(run)) {
      linalg::GenericOp last =
          plan.single ? plan.single : plan.group.getOps().back().op;
      ImplicitLocOpBuilder builder(last.getLoc(), run.back());
      if (failed(emitKernel(plan, builder)))
        return failure();
    }
    for (linalg::GenericOp op : run)
      op.erase();
    run.clear();
    return success();
  }

  LogicalResult emitKernel(const KernelPlan &plan,
                           ImplicitLocOpBuilder &builder) {
    if (plan.single)
      return emitOutputs(plan.single, plan.fill, launcher, builder);
    if (plan.group.getSpace().reducedRows > 0)
      return emitColumns(plan.group, launcher, builder);
    if (!plan.group.isElementwise())
      return emitRows(plan.group, launcher, builder);
    SmallVector<Crossing> crossings = findCrossings(plan.group);
    return crossings.empty()
               ? emitElements(plan.group, launcher, builder)
               : emitTiles(plan.group, crossings, launcher, builder);
  }

  /// Lowers the stores since the last op that is none.
  LogicalResult lowerStores() {
    if (stores.empty())
      return success();
    ImplicitLocOpBuilder builder(stores.back().getLoc(), stores.back());
    if (failed(emitStores(stores, launcher, builder)))
      return failure();
    for (memref::StoreOp store : stores)
      store.erase();
    stores.clear();
    return success();
  }

  /// Erases the loads that kernels do themselves; the host can do none.
  LogicalResult eraseLoads() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (isOpTriviallyDead(&op))
        op.erase();
      else if (isa<memref::LoadOp>(op) ||
               (op.getNumRegions() > 0 && !isa<gpu::LaunchOp>(op) &&
                !isControlFlow(&op)))
        return op.emitOpError("has no kernel: the host needs it");
    }
    return success();
  }

  Block &block;
  Launcher &launcher;
  SmallVector<linalg::GenericOp> run;
  SmallVector<memref::StoreOp> stores;
};

struct LowerToKernels : pipewright::impl::LowerToKernelsBase<LowerToKernels> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Launcher launcher(function.getName());
    // What is inside is seen from outside as what it will be.
    for (Block *block : collectHostBlocks(function))
      if (failed(BlockLowering(*block, launcher).lower()))
        return signalPassFailure();
  }
};
} // namespace
