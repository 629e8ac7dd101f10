//===- MergeLoops.cpp - linalg ops with as few loops as can be
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MergeLoops.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

using namespace mlir;
using namespace pipewright;
using utils::IteratorType;

/// Whether loops \p first and \p first + 1 run over one contiguous axis of all
/// operands.
static bool canMerge(linalg::GenericOp op, int64_t first) {
  SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
  ReassociationIndices pair = {first, first + 1};
  return iterators[first] == iterators[first + 1] &&
         linalg::areDimSequencesPreserved(op.getIndexingMapsArray(), {pair});
}

/// Merges loops that are one loop over memory.
static linalg::GenericOp mergeLoops(linalg::GenericOp op,
                                    RewriterBase &rewriter) {
  bool contiguous = llvm::all_of(op->getOperands(), [](Value operand) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    return !type || type.getLayout().isIdentity();
  });
  bool permuted = llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return map.isProjectedPermutation();
  });
  if (op.getNumLoops() < 2 || op.hasIndexSemantics() || !contiguous ||
      !permuted)
    return op;
  SmallVector<ReassociationIndices> groups = {{0}};
  for (int64_t loop = 1; loop < static_cast<int64_t>(op.getNumLoops());
       ++loop) {
    if (canMerge(op, loop - 1))
      groups.back().push_back(loop);
    else
      groups.push_back({loop});
  }
  if (groups.size() == op.getNumLoops())
    return op;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> merged =
      linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(merged))
    return op;
  auto result = cast<linalg::GenericOp>(merged->collapsedOp);
  rewriter.eraseOp(op);
  return result;
}

FailureOr<linalg::GenericOp>
pipewright::toMergedGeneric(linalg::LinalgOp op, RewriterBase &rewriter) {
  if (!op.hasPureBufferSemantics())
    return op.emitOpError("works on tensors; run '--one-shot-bufferize' first");
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return failure();
    generic = *made;
  }
  return mergeLoops(generic, rewriter);
}
