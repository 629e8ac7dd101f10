//===- SimplifyOps.cpp - linalg ops as kernels want them
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimplifyOps.h"

#include "../../MergeLoops.h"
#include "InlineLoad.h"
#include "KernelGroups.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;
using utils::IteratorType;

/// The loops of \p op in the order of the axes of \p operand, or none if it
/// does not have them all.
static SmallVector<unsigned> getLoopsInOrder(linalg::GenericOp op,
                                             OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!isa<MemRefType>(operand.get().getType()) ||
      !map.isProjectedPermutation(/*allowZeroInResults=*/true))
    return {};
  SmallVector<unsigned> loops;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops.push_back(dim.getPosition());
  return loops.size() == op.getNumLoops() ? loops : SmallVector<unsigned>();
}

/// The loops of \p op, a reduction, in the best order; none if it is not clear.
static SmallVector<unsigned> orderReduction(linalg::GenericOp op) {
  // Other reductions may depend on the order.
  if (!getCombiners(op))
    return {};
  SmallVector<unsigned> loops;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (loops.empty())
      loops = getLoopsInOrder(op, *operand);
  if (loops.empty())
    return {};
  SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
  auto isReduced = [&](unsigned loop) {
    return iterators[loop] == IteratorType::reduction;
  };
  // Columns stay innermost if the elements of a line are theirs.
  ArrayRef<unsigned> outer = loops;
  while (!isReduced(outer.back()))
    outer = outer.drop_back();
  SmallVector<unsigned> ordered;
  llvm::copy_if(outer, std::back_inserter(ordered),
                [&](unsigned loop) { return !isReduced(loop); });
  llvm::copy_if(outer, std::back_inserter(ordered), isReduced);
  llvm::append_range(ordered, ArrayRef(loops).drop_front(outer.size()));
  return ordered;
}

static LogicalResult orderLoops(linalg::GenericOp op, RewriterBase &rewriter) {
  SmallVector<unsigned> loops =
      op.getNumReductionLoops() > 0
          ? orderReduction(op)
          : getLoopsInOrder(op, *op.getDpsInitsMutable().begin());
  if (llvm::is_sorted(loops))
    return success();
  FailureOr<linalg::GenericOp> ordered =
      linalg::interchangeGenericOp(rewriter, op, loops);
  if (failed(ordered))
    return op.emitOpError("has loops that cannot change places");
  return toMergedGeneric(*ordered, rewriter);
}

/// Whether \p op may touch what the linalg op \p fill fills.
static bool mayTouch(Operation *op, linalg::GenericOp fill) {
  if (isPure(op) || isa<memref::AllocOp>(op))
    return false;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return !generic || !mayPrecede(generic, fill);
}

/// Whether \p op may write what \p buffer is.
static bool mayWrite(Operation *op, Value buffer) {
  if (isPure(op) || isa<memref::AllocOp, memref::LoadOp>(op))
    return false;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return !generic || llvm::any_of(generic.getDpsInits(), [&](Value init) {
    return mayOverlap(getMemory(init), getMemory(buffer));
  });
}

Operation *cuda::findWriter(Operation *user, Value buffer, Operation *first) {
  Operation *writer = user->getPrevNode();
  while (writer && writer != first && !mayWrite(writer, buffer))
    writer = writer->getPrevNode();
  return writer;
}

/// The op that fills all of \p buffer with one value, which is still there
/// before \p user; null if there is none.
static linalg::GenericOp findFill(Operation *user, Value buffer) {
  auto fill = dyn_cast_or_null<linalg::GenericOp>(findWriter(user, buffer));
  if (!fill || !isFill(fill) || fill.getNumDpsInits() != 1 ||
      fill.hasIndexSemantics() ||
      !llvm::hasSingleElement(fill.getBody()->getOperations()))
    return {};
  Memory filled = getMemory(fill.getDpsInits().front());
  Memory read = getMemory(buffer);
  bool isSame = filled.isContiguous && filled.root == read.root &&
                filled.offset == read.offset && filled.bytes == read.bytes;
  return isSame ? fill : linalg::GenericOp();
}

/// Has \p copy, if it copies a filled buffer, fill the other: sums that begin
/// with the same zeros share a buffer of them.
static void forwardFill(linalg::GenericOp copy, RewriterBase &rewriter) {
  if (copy.getNumDpsInputs() != 1 || copy.getNumDpsInits() != 1 ||
      !llvm::hasSingleElement(copy.getBody()->getOperations()) ||
      copy.getBody()->getTerminator()->getOperand(0) !=
          copy.getBody()->getArgument(0))
    return;
  Value source = copy.getDpsInputs().front();
  if (!isa<MemRefType>(source.getType()))
    return;
  linalg::GenericOp fill = findFill(copy, source);
  if (!fill)
    return;
  Value value = fill.getBody()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value))
    value = fill.getDpsInputs()[argument.getArgNumber()];
  rewriter.setInsertionPoint(copy);
  auto made = linalg::FillOp::create(rewriter, copy.getLoc(), value,
                                     copy.getDpsInits().front());
  rewriter.replaceOp(copy, *linalg::generalizeNamedOp(rewriter, made));
}

/// Has \p op load what is cast for its loads.
static void inlineLoads(linalg::GenericOp op) {
  SmallVector<Value> written(op.getDpsInits());
  for (auto load :
       llvm::make_early_inc_range(op.getBody()->getOps<memref::LoadOp>()))
    inlineLoad(load, op, written);
}

/// Moves ops that only fill buffers to where these are needed: a kernel can do
/// that itself.
static void sinkFills(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    auto fill = dyn_cast<linalg::GenericOp>(op);
    if (!fill || !isFill(fill))
      continue;
    Operation *user = fill->getNextNode();
    while (user && user != block.getTerminator() && !mayTouch(user, fill))
      user = user->getNextNode();
    fill->moveBefore(user);
  }
}

LogicalResult cuda::simplifyOps(Block &block, RewriterBase &rewriter) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      rewriter.setInsertionPoint(copy);
      linalgOp = linalg::makeMemRefCopyOp(rewriter, copy.getLoc(),
                                          copy.getSource(), copy.getTarget());
      rewriter.eraseOp(copy);
    }
    if (!linalgOp)
      continue;
    FailureOr<linalg::GenericOp> generic = toMergedGeneric(linalgOp, rewriter);
    if (failed(generic) || failed(orderLoops(*generic, rewriter)))
      return failure();
  }
  for (Operation &op : llvm::make_early_inc_range(block))
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      inlineLoads(generic);
      forwardFill(generic, rewriter);
    }
  sinkFills(block);
  return success();
}
