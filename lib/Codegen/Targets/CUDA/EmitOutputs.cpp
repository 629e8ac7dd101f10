//===- EmitOutputs.cpp - A thread for an element of the results
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For reductions that are not over rows. Threads that follow each other compute
// elements that do, so that a sum over the rows of a matrix loads whole lines
// of it. Where there are many rows, threads in direction y share them.
//
//===----------------------------------------------------------------------===//

#include "ChunkEmitter.h"
#include "EmitKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;
using utils::IteratorType;

/// Threads of a block that does not share reductions.
static constexpr int64_t threadsPerBlock = 256;
/// How many threads share a reduction at most, and how long it is for each at
/// least.
static constexpr int64_t maxShares = 16, minShare = 8;

namespace {
class OutputKernel {
public:
  OutputKernel(linalg::GenericOp op, linalg::GenericOp fill,
               ImplicitLocOpBuilder &builder)
      : op(op), fill(fill), builder(builder), combiners(getCombiners(op)) {
    for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
      bool isReduced = iterator == IteratorType::reduction;
      (isReduced ? reduced : kept).push_back(loop);
      (isReduced ? reducedExtents : keptExtents)
          .push_back(op.getStaticLoopRanges()[loop]);
    }
    outputs = ShapedType::getNumElements(keptExtents);
    terms = ShapedType::getNumElements(reducedExtents);
    if (combiners)
      while (shares < maxShares && shares * 2 * minShare <= terms)
        shares *= 2;
  }

  LogicalResult build(Launcher &launcher) {
    if (outputs == 0)
      return success();
    int64_t width = shares > 1 ? warpSize : threadsPerBlock;
    int64_t blocks = llvm::divideCeil(outputs, width);
    launch = launcher.create(builder, {blocks, width, shares}, "outputs_");
    Value output = multiplyAdd(builder, launch.getBlockIds().x, width,
                               launch.getThreadIds().x);
    Value isInside;
    if (outputs < blocks * width)
      isInside = isBelow(builder, output, outputs);
    if (isInside && shares > 1) {
      // All threads of a block meet at its barrier, also those without one.
      output = arith::SelectOp::create(builder, isInside, output,
                                       createIndex(builder, 0));
    } else if (isInside) {
      auto branch = scf::IfOp::create(builder, isInside);
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    SmallVector<Value> outer = delinearize(builder, output, keptExtents);
    indices.resize(op.getNumLoops());
    for (auto [loop, index] : llvm::zip_equal(kept, outer))
      indices[loop] = index;
    shares > 1 ? buildShared(isInside) : buildAlone();
    return sinkOperands(launch);
  }

private:
  Value load(OpOperand &operand) {
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    return memref::LoadOp::create(
        builder, operand.get(),
        applyMap(builder, op.getMatchingIndexingMap(&operand), indices));
  }

  /// Leaves the loops over terms: maps of results do not ask for them.
  void leaveTerms() {
    for (int64_t loop : reduced)
      indices[loop] = createIndex(builder, 0);
  }

  SmallVector<Value> getFillArguments() {
    SmallVector<Value> arguments(fill.getDpsInputs());
    arguments.resize(fill.getBody()->getNumArguments());
    return arguments;
  }

  SmallVector<Value> loadResults() {
    leaveTerms();
    if (fill)
      return cloneBody(builder, fill, getFillArguments(), {},
                       fill.getBody()->getTerminator()->getOperands());
    SmallVector<Value> values;
    for (OpOperand &init : op.getDpsInitsMutable())
      values.push_back(load(init));
    return values;
  }

  void storeResults(ValueRange values) {
    for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), values))
      memref::StoreOp::create(
          builder, value, init.get(),
          applyMap(builder, op.getMatchingIndexingMap(&init), indices));
  }

  /// Terms \p first, \p first + \p step and so on, one after the other.
  SmallVector<Value> loopOverTerms(
      Value first, int64_t step, ArrayRef<Value> initial,
      llvm::function_ref<SmallVector<Value>(ArrayRef<Value>, ValueRange)>
          body) {
    auto loop = scf::ForOp::create(builder, first, createIndex(builder, terms),
                                   createIndex(builder, step), initial);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> inner =
        delinearize(builder, loop.getInductionVar(), reducedExtents);
    for (auto [position, index] : llvm::zip_equal(reduced, inner))
      indices[position] = index;
    SmallVector<Value> arguments;
    for (OpOperand *operand : op.getDpsInputOperands())
      arguments.push_back(load(*operand));
    scf::YieldOp::create(builder, body(arguments, loop.getRegionIterArgs()));
    return SmallVector<Value>(loop.getResults());
  }

  /// The op's own body for each term, so that any op can be computed so.
  void buildAlone() {
    auto addTerm = [&](ArrayRef<Value> inputs, ValueRange partial) {
      SmallVector<Value> arguments(inputs);
      llvm::append_range(arguments, partial);
      return cloneBody(builder, op, arguments, indices,
                       op.getBody()->getTerminator()->getOperands());
    };
    SmallVector<Value> results = loopOverTerms(
        createIndex(builder, 0), /*step=*/1, loadResults(), addTerm);
    leaveTerms();
    storeResults(results);
  }

  /// Thread y adds terms y, y + shares and so on; then the first adds what all
  /// have, in their order.
  void buildShared(Value isInside) {
    SmallVector<Value> neutral, wanted;
    for (const Combiner &combiner : *combiners) {
      neutral.push_back(arith::ConstantOp::create(builder, combiner.neutral));
      wanted.push_back(combiner.contribution);
    }
    auto addTerm = [&](ArrayRef<Value> inputs, ValueRange partial) {
      SmallVector<Value> arguments(inputs);
      arguments.resize(op.getBody()->getNumArguments());
      SmallVector<Value> terms =
          cloneBody(builder, op, arguments, indices, wanted, *combiners);
      for (auto [combiner, term, sum] :
           llvm::zip_equal(*combiners, terms, partial))
        term = combine(builder, combiner, sum, term);
      return terms;
    };
    Value share = launch.getThreadIds().y;
    SmallVector<Value> partial = loopOverTerms(share, shares, neutral, addTerm);
    SmallVector<Value> shared = exchange(partial);

    Value condition = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                            share, createIndex(builder, 0));
    if (isInside)
      condition = arith::AndIOp::create(builder, condition, isInside);
    auto branch = scf::IfOp::create(builder, condition);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    SmallVector<Value> results = loadResults();
    for (auto [result, combiner, own, buffer] :
         llvm::zip_equal(results, *combiners, partial, shared)) {
      Value sum = own;
      for (int64_t other = 1; other < shares; ++other)
        sum = combine(
            builder, combiner, sum,
            memref::LoadOp::create(builder, buffer,
                                   ValueRange{createIndex(builder, other),
                                              launch.getThreadIds().x}));
      result = combine(builder, combiner, result, sum);
    }
    storeResults(results);
  }

  /// Puts the \p partial results of all threads where all can read them.
  SmallVector<Value> exchange(ArrayRef<Value> partial) {
    auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                            gpu::AddressSpace::Workgroup);
    SmallVector<Value> shared;
    for (Value value : partial) {
      auto type = MemRefType::get({shares, warpSize}, value.getType(),
                                  MemRefLayoutAttrInterface(), space);
      shared.push_back(launch.addWorkgroupAttribution(type, builder.getLoc()));
      memref::StoreOp::create(
          builder, value, shared.back(),
          ValueRange{launch.getThreadIds().y, launch.getThreadIds().x});
    }
    gpu::BarrierOp::create(builder);
    return shared;
  }

  linalg::GenericOp op, fill;
  ImplicitLocOpBuilder &builder;
  std::optional<SmallVector<Combiner>> combiners;
  /// The parallel loops and the others, by number.
  SmallVector<int64_t> kept, reduced;
  SmallVector<int64_t> keptExtents, reducedExtents;
  int64_t outputs, terms;
  /// How many threads share the terms of one output.
  int64_t shares = 1;
  gpu::LaunchOp launch;
  SmallVector<Value> indices;
};
} // namespace

LogicalResult cuda::emitOutputs(linalg::GenericOp op, linalg::GenericOp fill,
                                Launcher &launcher,
                                ImplicitLocOpBuilder &builder) {
  return OutputKernel(op, fill, builder).build(launcher);
}
