//===- EmitLoops.cpp - Loops on buffers, a thread for some iterations
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Iterations of a loop may run side by side if each touches elements of its own
// of whatever buffer is written: if the loop's number is, at the same position,
// part of the place of every such access. A scattered sum is an example: rows
// may meet, columns cannot.
//
//===----------------------------------------------------------------------===//

#include "EmitKernels.h"
#include "LoopNest.h"
#include "Memory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;

static constexpr int64_t threadsPerBlock = 128;

namespace {
/// A load or store.
struct ElementAccess {
  Value buffer;
  SmallVector<Value> indices;
  bool isStore;
};
} // namespace

/// Whether \p loop runs over [0, n) for a known n.
static bool isCounted(scf::ForOp loop) {
  return getConstantIntValue(loop.getLowerBound()) == 0 &&
         getConstantIntValue(loop.getStep()) == 1 &&
         getConstantIntValue(loop.getUpperBound()).has_value() &&
         loop.getInitArgs().empty();
}

SmallVector<scf::ForOp> cuda::getNest(scf::ForOp outermost) {
  SmallVector<scf::ForOp> nest;
  for (scf::ForOp loop = outermost; loop && isCounted(loop);) {
    nest.push_back(loop);
    auto &ops = loop.getBody()->getOperations();
    loop = llvm::hasNItems(ops, 2) ? dyn_cast<scf::ForOp>(ops.front())
                                   : scf::ForOp();
  }
  return nest;
}

/// All accesses in \p loop; fails for other ops that touch memory.
static FailureOr<SmallVector<ElementAccess>> getAccesses(scf::ForOp loop) {
  SmallVector<ElementAccess> accesses;
  WalkResult walk = loop.walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      accesses.push_back({load.getMemRef(), load.getIndices(), false});
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      accesses.push_back({store.getMemRef(), store.getIndices(), true});
    else if (op->getNumRegions() == 0 && !isPure(op) &&
             !op->hasTrait<OpTrait::IsTerminator>()) {
      op->emitOpError("in a loop has no kernel");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return accesses;
}

/// The factor s for which \p index is s * \p number + c with 0 <= c < s, or 0.
static int64_t getFactor(Value index, Value number) {
  int64_t offset = 0;
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    std::optional<int64_t> constant = getConstantIntValue(sum.getRhs());
    if (!constant)
      return 0;
    offset = *constant;
    index = sum.getLhs();
  }
  int64_t factor = 1;
  if (auto product = index.getDefiningOp<arith::MulIOp>()) {
    std::optional<int64_t> constant = getConstantIntValue(product.getRhs());
    if (!constant)
      return 0;
    factor = *constant;
    index = product.getLhs();
  }
  return index == number && offset >= 0 && offset < factor ? factor : 0;
}

/// Whether no two iterations \p number touch the same element of a buffer that
/// is written, \p store being one access to it.
static bool keepsApart(const ElementAccess &store,
                       ArrayRef<ElementAccess> accesses, Value number) {
  Memory memory = getMemory(store.buffer);
  for (size_t position = 0; position < store.indices.size(); ++position) {
    int64_t factor = getFactor(store.indices[position], number);
    if (factor > 0 && llvm::all_of(accesses, [&](const ElementAccess &other) {
          return !mayOverlap(memory, getMemory(other.buffer)) ||
                 (other.buffer == store.buffer &&
                  getFactor(other.indices[position], number) == factor);
        }))
      return true;
  }
  return false;
}

static bool isParallel(scf::ForOp loop, ArrayRef<ElementAccess> accesses) {
  return llvm::all_of(accesses, [&](const ElementAccess &access) {
    return !access.isStore ||
           keepsApart(access, accesses, loop.getInductionVar());
  });
}

/// The loops of \p nest that are not \p parallel, around a copy of the
/// innermost body, with the numbers that \p mapping has for the others.
static void cloneLoops(ArrayRef<scf::ForOp> nest, ArrayRef<scf::ForOp> parallel,
                       IRMapping &mapping, ImplicitLocOpBuilder &builder) {
  for (scf::ForOp loop : nest) {
    if (llvm::is_contained(parallel, loop))
      continue;
    auto copy = scf::ForOp::create(
        builder, createIndex(builder, 0),
        createIndex(builder, *getConstantIntValue(loop.getUpperBound())),
        createIndex(builder, 1));
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    builder.setInsertionPointToStart(copy.getBody());
  }
  scf::ForOp innermost = nest.back();
  for (Operation &op : innermost.getBody()->without_terminator())
    builder.clone(op, mapping);
}

/// All iterations of \p loop on one thread.
static LogicalResult emitSequentialLoop(scf::ForOp loop, Launcher &launcher,
                                        ImplicitLocOpBuilder &builder) {
  if (!loop.use_empty())
    return loop.emitOpError("has no kernel: the host needs its results");
  loop.emitWarning("runs on one thread of the device, which is slow: its "
                   "iterations touch each other's memory, so that they cannot "
                   "run in parallel");
  gpu::LaunchOp launch =
      launcher.create(builder, {/*blocks=*/1, /*threadsX=*/1}, "loops_");
  builder.clone(*loop);
  return sinkOperands(launch);
}

LogicalResult cuda::emitLoops(scf::ForOp loop, Launcher &launcher,
                              ImplicitLocOpBuilder &builder) {
  FailureOr<SmallVector<ElementAccess>> accesses = getAccesses(loop);
  if (failed(accesses))
    return failure();
  SmallVector<scf::ForOp> nest = getNest(loop), parallel;
  SmallVector<int64_t> extents;
  for (scf::ForOp inner : nest) {
    if (!isParallel(inner, *accesses))
      continue;
    parallel.push_back(inner);
    extents.push_back(*getConstantIntValue(inner.getUpperBound()));
  }
  if (parallel.empty())
    return emitSequentialLoop(loop, launcher, builder);

  int64_t threads = ShapedType::getNumElements(extents);
  if (threads == 0)
    return success();
  int64_t blocks = llvm::divideCeil(threads, threadsPerBlock);
  gpu::LaunchOp launch =
      launcher.create(builder, {blocks, threadsPerBlock}, "loops_");
  Value thread = multiplyAdd(builder, launch.getBlockIds().x, threadsPerBlock,
                             launch.getThreadIds().x);
  if (threads < blocks * threadsPerBlock) {
    Value isInside = isBelow(builder, thread, threads);
    auto branch = scf::IfOp::create(builder, isInside);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  IRMapping mapping;
  for (auto [inner, index] :
       llvm::zip_equal(parallel, delinearize(builder, thread, extents)))
    mapping.map(inner.getInductionVar(), index);
  cloneLoops(nest, parallel, mapping, builder);
  return sinkOperands(launch);
}

LogicalResult cuda::emitStores(ArrayRef<memref::StoreOp> stores,
                               Launcher &launcher,
                               ImplicitLocOpBuilder &builder) {
  gpu::LaunchOp launch =
      launcher.create(builder, {/*blocks=*/1, /*threadsX=*/1}, "stores_");
  for (memref::StoreOp store : stores)
    builder.clone(*store);
  return sinkOperands(launch);
}
