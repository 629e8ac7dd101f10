//===- LowerToLoops.cpp - linalg ops on buffers as loops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MergeLoops.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace pipewright {
#define GEN_PASS_DEF_LOWERTOLOOPS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Before: fewer and simpler ops
//===----------------------------------------------------------------------===//

/// Copies between buffers of different layout become linalg ops; what is left
/// is a block of bytes.
static void lowerCopies(func::FuncOp function, RewriterBase &rewriter) {
  function.walk([&](memref::CopyOp copy) {
    auto source = cast<MemRefType>(copy.getSource().getType());
    auto target = cast<MemRefType>(copy.getTarget().getType());
    if (memref::isStaticShapeAndContiguousRowMajor(source) &&
        memref::isStaticShapeAndContiguousRowMajor(target))
      return;
    rewriter.setInsertionPoint(copy);
    linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    rewriter.eraseOp(copy);
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// Builds the loop nest of one op on buffers.
class LoopBuilder {
public:
  LoopBuilder(linalg::GenericOp op, RewriterBase &rewriter)
      : op(op), builder(rewriter), extents(op.getStaticLoopRanges()),
        firstReduction(findFirstReduction()), loaded(op.getNumDpsInputs()) {}

  void build() {
    builder.setInsertionPoint(op);
    buildLoop();
    builder.eraseOp(op);
  }

private:
  /// The outermost of the innermost loops that all are reductions: their
  /// partial results stay in registers.
  int64_t findFirstReduction() {
    SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
    int64_t loop = iterators.size();
    while (loop > 0 && iterators[loop - 1] == IteratorType::reduction)
      --loop;
    return loop;
  }

  Value getIndex(int64_t value) {
    return arith::ConstantIndexOp::create(builder, op.getLoc(), value);
  }

  /// The position in the buffer of \p operand in this iteration.
  SmallVector<Value> getPosition(OpOperand &operand) {
    SmallVector<Value> position;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        position.push_back(indices[dim.getPosition()]);
        continue;
      }
      // It does not depend on loops that are not there yet.
      SmallVector<Value> operands = indices;
      while (operands.size() < op.getNumLoops())
        operands.push_back(getIndex(0));
      auto map = AffineMap::get(op.getNumLoops(), 0, expr);
      position.push_back(
          affine::AffineApplyOp::create(builder, op.getLoc(), map, operands));
    }
    return position;
  }

  Value load(OpOperand &operand) {
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    return memref::LoadOp::create(builder, op.getLoc(), operand.get(),
                                  getPosition(operand));
  }

  /// Loads the inputs that are the same for all iterations of the loops from
  /// here on. The code generator does not know that results are stored
  /// elsewhere, so it would load them each time, and not compute in vectors.
  void loadInvariants() {
    auto depth = static_cast<unsigned>(indices.size());
    for (auto [operand, value] :
         llvm::zip_equal(op.getDpsInputOperands(), loaded)) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      bool varies =
          llvm::any_of(llvm::seq(depth, map.getNumDims()),
                       [&](unsigned dim) { return map.isFunctionOfDim(dim); });
      if (!value && !varies)
        value = load(*operand);
    }
  }

  SmallVector<Value> loadResults() {
    SmallVector<Value> values;
    for (OpOperand &operand : op.getDpsInitsMutable()) {
      // A result that is not read must not be loaded: it may be anything.
      bool read = op.payloadUsesValueFromOperand(&operand) ||
                  firstReduction < static_cast<int64_t>(op.getNumLoops());
      values.push_back(read ? load(operand) : Value());
    }
    return values;
  }

  void storeResults(ValueRange values) {
    for (auto [operand, value] :
         llvm::zip_equal(op.getDpsInitsMutable(), values))
      memref::StoreOp::create(builder, op.getLoc(), value, operand.get(),
                              getPosition(operand));
  }

  /// The body for one iteration; the results so far are \p partial.
  SmallVector<Value> buildBody(ArrayRef<Value> partial) {
    IRMapping mapping;
    Block *body = op.getBody();
    for (auto [operand, value] :
         llvm::zip_equal(op.getDpsInputOperands(), loaded))
      mapping.map(op.getMatchingBlockArgument(operand),
                  value ? value : load(*operand));
    for (auto [operand, value] :
         llvm::zip_equal(op.getDpsInitsMutable(), partial))
      if (value)
        mapping.map(op.getMatchingBlockArgument(&operand), value);
    for (Operation &nested : body->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(nested)) {
        mapping.map(index.getResult(), indices[index.getDim()]);
        continue;
      }
      builder.clone(nested, mapping);
    }
    return llvm::map_to_vector(
        body->getTerminator()->getOperands(),
        [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  /// Loop number `indices.size()` and those inside it.
  void buildLoop() {
    int64_t loop = indices.size();
    if (loop == firstReduction) {
      storeResults(buildInRegisters(loadResults()));
      return;
    }
    loadInvariants();
    scf::ForOp forOp = createFor(loop, /*initial=*/{});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(forOp.getBody()->getTerminator());
    indices.push_back(forOp.getInductionVar());
    buildLoop();
    indices.pop_back();
  }

  /// The same where results stay in registers; returns them.
  SmallVector<Value> buildInRegisters(ArrayRef<Value> partial) {
    int64_t loop = indices.size();
    if (loop == static_cast<int64_t>(op.getNumLoops()))
      return buildBody(partial);
    loadInvariants();
    scf::ForOp forOp = createFor(loop, partial);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(forOp.getBody());
    indices.push_back(forOp.getInductionVar());
    SmallVector<Value> next =
        buildInRegisters(SmallVector<Value>(forOp.getRegionIterArgs()));
    scf::YieldOp::create(builder, op.getLoc(), next);
    indices.pop_back();
    return SmallVector<Value>(forOp.getResults());
  }

  scf::ForOp createFor(int64_t loop, ValueRange initial) {
    return scf::ForOp::create(builder, op.getLoc(), getIndex(0),
                              getIndex(extents[loop]), getIndex(1), initial);
  }

  linalg::GenericOp op;
  RewriterBase &builder;
  SmallVector<int64_t> extents;
  int64_t firstReduction;
  /// Per input, its value where it was loaded outside of the innermost loop.
  SmallVector<Value> loaded;
  SmallVector<Value> indices;
};

struct LowerToLoops : pipewright::impl::LowerToLoopsBase<LowerToLoops> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    lowerCopies(getOperation(), rewriter);
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      FailureOr<linalg::GenericOp> generic = toMergedGeneric(op, rewriter);
      if (failed(generic))
        return signalPassFailure();
      LoopBuilder(*generic, rewriter).build();
    }
  }
};
} // namespace
