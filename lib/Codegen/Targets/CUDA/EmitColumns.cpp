//===- EmitColumns.cpp - A block for a few columns
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads in direction x have chunks of columns that follow each other, so that
// each row is loaded as a line; threads in direction y have every few rows.
// What they come to meets in shared memory, where a thread adds what is of one
// column, in order.
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

/// Threads of a block, and how many of them have the same columns at most.
static constexpr int64_t threadsPerBlock = 256, maxHeight = 32;
/// How many rows a thread has under way at once.
static constexpr int64_t rowsAtOnce = 4;

namespace {
class ColumnKernel {
public:
  ColumnKernel(const KernelGroup &group, ImplicitLocOpBuilder &builder)
      : group(group), builder(builder), space(group.getSpace()),
        length(group.getVectorLength()), chunks(space.columns / length) {
    width = std::min<int64_t>(warpSize, llvm::PowerOf2Ceil(chunks));
    height = std::min(maxHeight, threadsPerBlock / width);
    slabs = llvm::divideCeil(chunks, width);
    sets = space.rows / space.reducedRows;
  }

  LogicalResult build(Launcher &launcher) {
    launch =
        launcher.create(builder, {sets * slabs, width, height}, "columns_");
    SmallVector<Value> place =
        delinearize(builder, launch.getBlockIds().x, {sets, slabs});
    set = place[0];
    slab = place[1];
    SmallVector<Value> shared = exchange(reduceRows());
    gpu::BarrierOp::create(builder);
    finish(shared);
    return sinkOperands(launch);
  }

private:
  /// What there is before the first row: a chunk for each result of each
  /// reduction.
  SmallVector<Value> getNeutrals() {
    SmallVector<Value> neutrals;
    for (const KernelOp &kernelOp : group.getOps())
      for (const Combiner &combiner : kernelOp.combiners)
        neutrals.append(length,
                        arith::ConstantOp::create(builder, combiner.neutral));
    return neutrals;
  }

  /// What the rows of this thread come to.
  SmallVector<Value> reduceRows() {
    Value chunk = multiplyAdd(builder, slab, width, launch.getThreadIds().x);
    SmallVector<Value> neutrals = getNeutrals();
    if (chunks % width == 0)
      return loopOverRows(chunk, neutrals);
    auto branch =
        scf::IfOp::create(builder, ValueRange(neutrals).getTypes(),
                          isBelow(builder, chunk, chunks), /*withElse=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loopOverRows(chunk, neutrals));
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, neutrals);
    return SmallVector<Value>(branch.getResults());
  }

  SmallVector<Value> loopOverRows(Value chunk, ArrayRef<Value> neutrals) {
    int64_t atOnce = rowsAtOnce;
    while (space.reducedRows % (height * atOnce) != 0 && atOnce > 1)
      atOnce /= 2;
    Value column = multiplyAdd(builder, chunk, length, Value());
    auto loop =
        scf::ForOp::create(builder, launch.getThreadIds().y,
                           createIndex(builder, space.reducedRows),
                           createIndex(builder, height * atOnce), neutrals);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value first =
        multiplyAdd(builder, set, space.reducedRows, loop.getInductionVar());
    SmallVector<Value> partials(loop.getRegionIterArgs());
    for (int64_t next = 0; next < atOnce; ++next) {
      Value row = next == 0 ? first
                            : multiplyAdd(builder, first, 1,
                                          createIndex(builder, next * height));
      addRow(row, {column, length, Value()}, partials);
    }
    if (!partials.empty())
      scf::YieldOp::create(builder, partials);
    return SmallVector<Value>(loop.getResults());
  }

  void addRow(Value row, const Chunk &chunk, SmallVector<Value> &partials) {
    ChunkEmitter emitter(group, builder, row);
    auto *partial = partials.begin();
    for (const KernelOp &kernelOp : group.getOps()) {
      if (kernelOp.form == OpForm::Element)
        emitter.emitElements(kernelOp, chunk);
      if (kernelOp.form != OpForm::Reduction)
        continue;
      for (auto [combiner, lanes] : llvm::zip_equal(
               kernelOp.combiners, emitter.emitContributions(kernelOp, chunk)))
        for (Value value : lanes) {
          *partial = combine(builder, combiner, *partial, value);
          ++partial;
        }
    }
    emitter.storeElements();
  }

  /// Where what is of \p column, of those of the block, is in a line of shared
  /// memory. Every 32 columns leave out a word, so that neither chunks nor
  /// columns of a warp meet in a bank.
  Value getPlace(Value column) {
    Value gaps =
        arith::DivUIOp::create(builder, column, createIndex(builder, warpSize));
    return multiplyAdd(builder, column, 1, gaps);
  }

  int64_t getPitch() const {
    return width * length + llvm::divideCeil(width * length, warpSize);
  }

  /// Puts \p partials of all threads where all can read them: a buffer per
  /// result, a line for each y.
  SmallVector<Value> exchange(ArrayRef<Value> partials) {
    auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                            gpu::AddressSpace::Workgroup);
    Value first = getPlace(
        multiplyAdd(builder, launch.getThreadIds().x, length, Value()));
    SmallVector<Value> shared;
    for (; !partials.empty(); partials = partials.drop_front(length)) {
      Type type = partials.front().getType();
      shared.push_back(launch.addWorkgroupAttribution(
          MemRefType::get({height, getPitch()}, type,
                          MemRefLayoutAttrInterface(), space),
          builder.getLoc()));
      for (int64_t lane = 0; lane < length; ++lane) {
        Value place = lane == 0 ? first
                                : multiplyAdd(builder, first, 1,
                                              createIndex(builder, lane));
        memref::StoreOp::create(builder, partials[lane], shared.back(),
                                ValueRange{launch.getThreadIds().y, place});
      }
    }
    return shared;
  }

  /// Has a thread for each column of the block compute its results.
  void finish(ArrayRef<Value> shared) {
    Value thread = multiplyAdd(builder, launch.getThreadIds().y, width,
                               launch.getThreadIds().x);
    Value column = multiplyAdd(builder, slab, width * length, thread);
    for (auto [index, bound] : {std::pair(thread, width * length),
                                std::pair(column, space.columns)}) {
      auto branch = scf::IfOp::create(builder, isBelow(builder, index, bound));
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    ChunkEmitter emitter(group, builder,
                         multiplyAdd(builder, set, space.columns, column));
    for (const KernelOp &kernelOp : group.getOps()) {
      if (kernelOp.form == OpForm::Result)
        emitter.emitRow(kernelOp);
      if (kernelOp.form != OpForm::Reduction)
        continue;
      SmallVector<Value> totals;
      for (const Combiner &combiner : kernelOp.combiners) {
        totals.push_back(addShares(combiner, shared.front(), thread));
        shared = shared.drop_front();
      }
      emitter.emitTotals(kernelOp, totals);
    }
    emitter.storeRows();
  }

  Value addShares(const Combiner &combiner, Value shared, Value thread) {
    Value sum, place = getPlace(thread);
    for (int64_t y = 0; y < height; ++y) {
      Value share = memref::LoadOp::create(
          builder, shared, ValueRange{createIndex(builder, y), place});
      sum = sum ? combine(builder, combiner, sum, share) : share;
    }
    return sum;
  }

  const KernelGroup &group;
  ImplicitLocOpBuilder &builder;
  KernelSpace space;
  /// Elements of a chunk, and chunks of a row.
  int64_t length, chunks;
  /// Threads of a block.
  int64_t width, height;
  /// How many blocks share a row, and how many sets of rows there are.
  int64_t slabs, sets;
  gpu::LaunchOp launch;
  Value set, slab;
};
} // namespace

LogicalResult cuda::emitColumns(const KernelGroup &group, Launcher &launcher,
                                ImplicitLocOpBuilder &builder) {
  return ColumnKernel(group, builder).build(launcher);
}
