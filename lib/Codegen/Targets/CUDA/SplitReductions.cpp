//===- SplitReductions.cpp - Reductions in two steps
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBlocks.h"
#include "KernelGroups.h"
#include "Launch.h"
#include "Memory.h"
#include "SimplifyOps.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace pipewright {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;
using utils::IteratorType;

/// Blocks that occupy a large device, with four for each multiprocessor.
static constexpr int64_t wantedBlocks = 528;
/// How many columns a block reduces.
static constexpr int64_t columnsPerBlock = 128;
/// How many rows are worth a block, if columns are reduced.
static constexpr int64_t minRows = 64;
/// How many elements of a row are, and which rows are too few or too short.
static constexpr int64_t minColumns = 4096, longRow = 8 * minColumns,
                         fewRows = 64;

/// How many parts the rows of \p space are best reduced in.
static int64_t getWantedParts(KernelSpace space) {
  if (space.reducedRows > 0) {
    int64_t blocks = space.rows / space.reducedRows *
                     llvm::divideCeil(space.columns, columnsPerBlock);
    return std::min<int64_t>(llvm::divideCeil(wantedBlocks, blocks),
                             space.reducedRows / minRows);
  }
  if (space.rows > fewRows || space.columns < longRow)
    return 1;
  return std::min<int64_t>(llvm::divideCeil(wantedBlocks, space.rows),
                           space.columns / minColumns);
}

/// Whether another op reads what \p op reads: a kernel may then do more with a
/// row at once, which splitting would end.
static bool sharesInputs(linalg::GenericOp op) {
  SmallVector<Value> aliases;
  for (Value input : op.getDpsInputs())
    if (isa<MemRefType>(input.getType()))
      aliases.push_back(getWholeBuffer(input));
  while (!aliases.empty()) {
    Value alias = aliases.pop_back_val();
    for (OpOperand &use : alias.getUses()) {
      Operation *user = use.getOwner();
      if (isa<ViewLikeOpInterface>(user))
        aliases.push_back(user->getResult(0));
      else if (auto other = dyn_cast<linalg::GenericOp>(user))
        if (other != op && other.isDpsInput(&use))
          return true;
    }
  }
  return false;
}

/// The largest number up to \p wanted that divides \p extent.
static int64_t getDivisor(int64_t extent, int64_t wanted) {
  int64_t divisor = std::max<int64_t>(1, std::min(extent, wanted));
  while (extent % divisor != 0)
    --divisor;
  return divisor;
}

namespace {
/// A reduction in two steps: each part of the iterations of one loop, then the
/// parts.
class Split {
public:
  Split(linalg::GenericOp op, int64_t loop, int64_t parts, int64_t place)
      : op(op), builder(op.getLoc(), op), loop(loop), parts(parts),
        place(place), combiners(*getCombiners(op)) {}

  /// Replaces the op, unless an operand cannot be looked at in parts.
  bool apply() {
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      Value input = operand->get();
      if (!splitOperand(input, map))
        return false;
      inputs.push_back(input);
      maps.push_back(map);
    }
    SmallVector<Value> partials = makePartials();
    SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
    iterators.insert(iterators.begin() + place, IteratorType::parallel);
    for (size_t result = 0; result < partials.size(); ++result)
      maps.push_back(AffineMap::get(iterators.size(), 0, getPartialAxes(),
                                    op.getContext()));
    auto first = linalg::GenericOp::create(builder, TypeRange(), inputs,
                                           partials, maps, iterators);
    IRMapping mapping;
    op.getRegion().cloneInto(&first.getRegion(), mapping);
    for (auto [result, partial] : llvm::enumerate(partials))
      addParts(partial, op.getDpsInitsMutable()[result], combiners[result]);
    op.erase();
    return true;
  }

private:
  /// The loop of the first step that was \p dim.
  AffineExpr renumber(int64_t dim) {
    return getAffineDimExpr(dim < place ? dim : dim + 1, op.getContext());
  }

  /// Makes \p input, which \p map points to, one with an axis for the parts.
  bool splitOperand(Value &input, AffineMap &map) {
    SmallVector<AffineExpr> axes;
    SmallVector<int64_t> shape;
    SmallVector<ReassociationIndices> groups;
    auto type = dyn_cast<MemRefType>(input.getType());
    bool isSplit = false;
    for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim && !isa<AffineConstantExpr>(expr))
        return false;
      groups.emplace_back();
      auto addAxis = [&](int64_t extent, AffineExpr at) {
        groups.back().push_back(shape.size());
        shape.push_back(extent);
        axes.push_back(at);
      };
      if (dim && dim.getPosition() == loop) {
        addAxis(parts, getAffineDimExpr(place, op.getContext()));
        addAxis(type.getDimSize(axis) / parts, renumber(loop));
        isSplit = true;
      } else {
        addAxis(type.getDimSize(axis),
                dim ? renumber(dim.getPosition()) : expr);
      }
    }
    map = AffineMap::get(op.getNumLoops() + 1, 0, axes, op.getContext());
    if (isSplit)
      input = memref::ExpandShapeOp::create(builder, shape, input, groups);
    return true;
  }

  /// The axes of a partial result, by the loops of the first step: the loops
  /// that are not reduced, with the parts in front of those that are.
  SmallVector<AffineExpr> getPartialAxes() {
    SmallVector<AffineExpr> axes;
    for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
      if (static_cast<int64_t>(dim) == place)
        axes.push_back(getAffineDimExpr(place, op.getContext()));
      if (iterator == IteratorType::parallel)
        axes.push_back(renumber(dim));
    }
    return axes;
  }

  /// A filled buffer for each result.
  SmallVector<Value> makePartials() {
    SmallVector<int64_t> extents = op.getStaticLoopRanges(), shape;
    for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
      if (static_cast<int64_t>(dim) == place)
        shape.push_back(parts);
      if (iterator == IteratorType::parallel)
        shape.push_back(extents[dim]);
    }
    SmallVector<Value> partials;
    for (const Combiner &combiner : combiners) {
      Value neutral = arith::ConstantOp::create(builder, combiner.neutral);
      partials.push_back(memref::AllocOp::create(
          builder, MemRefType::get(shape, neutral.getType())));
      linalg::FillOp::create(builder, neutral, partials.back());
    }
    return partials;
  }

  /// Combines the parts with what the result held.
  void addParts(Value partial, OpOperand &init, const Combiner &combiner) {
    int64_t rank = cast<MemRefType>(partial.getType()).getRank();
    // The number that a parallel loop of the op has among the axes of the
    // partial result.
    SmallVector<AffineExpr> numbers;
    SmallVector<IteratorType> iterators;
    for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
      if (static_cast<int64_t>(dim) == place)
        iterators.push_back(IteratorType::reduction);
      numbers.push_back(getAffineDimExpr(iterators.size(), op.getContext()));
      if (iterator == IteratorType::parallel)
        iterators.push_back(IteratorType::parallel);
    }
    AffineMap map = op.getMatchingIndexingMap(&init).replaceDimsAndSymbols(
        numbers, {}, rank, 0);
    linalg::GenericOp::create(
        builder, TypeRange(), partial, init.get(),
        {builder.getMultiDimIdentityMap(rank), map}, iterators,
        [&](OpBuilder &nested, Location loc, ValueRange arguments) {
          IRMapping mapping;
          for (Value operand : combiner.op->getOperands())
            mapping.map(operand, operand == combiner.contribution
                                     ? arguments[0]
                                     : arguments[1]);
          Operation *combined = nested.clone(*combiner.op, mapping);
          linalg::YieldOp::create(nested, loc, combined->getResults());
        });
  }

  linalg::GenericOp op;
  ImplicitLocOpBuilder builder;
  /// The loop whose iterations are in parts, how many parts these are, and
  /// which loop runs over them.
  int64_t loop, parts, place;
  SmallVector<Combiner> combiners;
};

struct SplitReductions
    : pipewright::impl::SplitReductionsBase<SplitReductions> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (Block *block : collectHostBlocks(getOperation())) {
      if (failed(simplifyOps(*block, rewriter)))
        return signalPassFailure();
      for (Operation &op : llvm::make_early_inc_range(*block))
        if (auto generic = dyn_cast<linalg::GenericOp>(op))
          split(generic);
    }
  }

  static void split(linalg::GenericOp op) {
    std::optional<KernelSpace> space = getReducedSpace(op);
    if (!space || op.hasIndexSemantics())
      return;
    if (space->reducedRows == 0 && sharesInputs(op))
      return;
    int64_t wanted = getWantedParts(*space);
    SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    int64_t place =
        llvm::find(iterators, IteratorType::reduction) - iterators.begin();
    int64_t best = place;
    for (int64_t loop = place; loop < place + op.getNumReductionLoops(); ++loop)
      if (getDivisor(extents[loop], wanted) > getDivisor(extents[best], wanted))
        best = loop;
    int64_t parts = getDivisor(extents[best], wanted);
    if (parts > 1)
      Split(op, best, parts, place).apply();
  }
};
} // namespace
