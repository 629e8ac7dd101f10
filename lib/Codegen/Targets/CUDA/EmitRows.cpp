//===- EmitRows.cpp - A few threads for a row
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkEmitter.h"
#include "EmitKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;

namespace {
/// How threads share the rows.
struct RowShape {
  int64_t length;          ///< elements of a chunk
  int64_t chunks;          ///< chunks of a row
  int64_t threads;         ///< threads of a row
  int64_t rowsPerBlock;    ///< more than one only if a row has no other warp
  int64_t chunksPerThread; ///< 0 if threads loop over the chunks
};
} // namespace

/// Enough to have a row's loads under way together; more would leave each
/// thread with fewer than 128 registers.
static constexpr int64_t maxThreads = 512;
/// How many elements, of all buffers, a thread keeps in registers.
static constexpr int64_t maxKept = 64;
/// Threads of a block whose rows have a warp at most each.
static constexpr int64_t threadsOfShortRows = 256;
/// How many elements of a row a thread of a single warp has at most.
static constexpr int64_t maxWarpElements = 16;

static RowShape chooseShape(const KernelGroup &group) {
  RowShape shape;
  shape.length = group.getVectorLength();
  shape.chunks = group.getSpace().columns / shape.length;
  shape.rowsPerBlock = 1;
  int64_t perLane = llvm::divideCeil(shape.chunks, warpSize);
  if (perLane * shape.length <= maxWarpElements) {
    shape.threads =
        std::min<int64_t>(warpSize, llvm::PowerOf2Ceil(shape.chunks));
    while (shape.rowsPerBlock * 2 * shape.threads <= threadsOfShortRows &&
           group.getSpace().rows % (shape.rowsPerBlock * 2) == 0)
      shape.rowsPerBlock *= 2;
    // All lanes of a warp exchange values, also those of other rows.
    shape.threads = std::max(shape.threads, warpSize / shape.rowsPerBlock);
  } else {
    shape.threads =
        std::min<int64_t>(maxThreads, llvm::alignTo(shape.chunks, warpSize));
  }
  shape.chunksPerThread = llvm::divideCeil(shape.chunks, shape.threads);
  int64_t kept = shape.chunksPerThread * shape.length *
                 std::max<int64_t>(1, group.getNumElementBuffers());
  if (kept > maxKept)
    shape.chunksPerThread = 0;
  return shape;
}

bool cuda::fitsRegisters(const KernelGroup &group) {
  return group.getSpace().reducedRows > 0 ||
         chooseShape(group).chunksPerThread > 0;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Combines the values of the lanes of a warp, of which \p width follow each
/// other in a group; each lane gets the result.
static Value reduceWarp(ImplicitLocOpBuilder &builder, const Combiner &combiner,
                        Value value, int64_t width) {
  for (int64_t offset = width / 2; offset > 0; offset /= 2) {
    auto other = gpu::ShuffleOp::create(builder, value, offset, warpSize,
                                        gpu::ShuffleMode::XOR);
    value = combine(builder, combiner, value, other.getShuffleResult());
  }
  return value;
}

Value cuda::reduceThreads(ImplicitLocOpBuilder &builder, gpu::LaunchOp launch,
                          const Combiner &combiner, Value value,
                          int64_t threads) {
  value = reduceWarp(builder, combiner, value, std::min(threads, warpSize));
  int64_t warps = threads / warpSize;
  if (warps <= 1)
    return value;
  // Each reduction has memory of its own, so that one barrier is enough.
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  Value shared = launch.addWorkgroupAttribution(
      MemRefType::get({warps}, value.getType(), MemRefLayoutAttrInterface(),
                      space),
      builder.getLoc());
  Value thread = launch.getThreadIds().x;
  Value size = createIndex(builder, warpSize);
  Value lane = arith::RemUIOp::create(builder, thread, size);
  Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, lane,
                                        createIndex(builder, 0));
  scf::IfOp::create(builder, isFirst, [&](OpBuilder &nested, Location loc) {
    Value warp = arith::DivUIOp::create(nested, loc, thread, size);
    memref::StoreOp::create(nested, loc, value, shared, warp);
    scf::YieldOp::create(nested, loc);
  });
  gpu::BarrierOp::create(builder);
  int64_t width = llvm::PowerOf2Ceil(warps);
  // Lanes without a warp contribute nothing.
  Value hasWarp = isBelow(builder, lane, warps);
  Value source =
      arith::SelectOp::create(builder, hasWarp, lane, createIndex(builder, 0));
  Value partial = memref::LoadOp::create(builder, shared, source);
  Value neutral = arith::ConstantOp::create(builder, combiner.neutral);
  partial = arith::SelectOp::create(builder, hasWarp, partial, neutral);
  Value total = reduceWarp(builder, combiner, partial, width);
  if (width == warpSize)
    return total;
  // Only the first lanes combined the values of all warps.
  return gpu::ShuffleOp::create(builder, total, /*offset=*/0, warpSize,
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
class RowKernel {
public:
  RowKernel(const KernelGroup &group, const RowShape &shape,
            gpu::LaunchOp launch, ImplicitLocOpBuilder &builder, Value row)
      : group(group), shape(shape), launch(launch), builder(builder),
        emitter(group, builder, row) {}

  void build() {
    for (int64_t index = 0; index < shape.chunksPerThread; ++index)
      chunks.push_back(createChunk(index));
    for (const KernelOp &kernelOp : group.getOps())
      build(kernelOp);
    if (emitter.storesOverLoads())
      gpu::BarrierOp::create(builder);
    if (shape.chunksPerThread > 0)
      emitter.storeElements();
    else
      storeInLoop();
    storeRows();
  }

private:
  Chunk createChunk(int64_t index) {
    Value number = launch.getThreadIds().x;
    if (index > 0)
      number = multiplyAdd(builder, number, 1,
                           createIndex(builder, index * shape.threads));
    Value isActive;
    if ((index + 1) * shape.threads > shape.chunks) {
      isActive = isBelow(builder, number, shape.chunks);
      // Threads past the end compute the first chunk again.
      number = arith::SelectOp::create(builder, isActive, number,
                                       createIndex(builder, 0));
    }
    return {multiplyAdd(builder, number, shape.length, Value()), shape.length,
            isActive};
  }

  void build(const KernelOp &kernelOp) {
    if (kernelOp.form == OpForm::Result)
      return emitter.emitRow(kernelOp);
    emitter.loadRows(kernelOp);
    if (kernelOp.form == OpForm::Reduction)
      return buildReduction(kernelOp);
    // In loops, elements are computed where they are needed.
    for (const Chunk &chunk : chunks)
      emitter.emitElements(kernelOp, chunk);
  }

  /// Computes the elements of \p chunk that ops before \p end make.
  void computeElements(const Chunk &chunk, const KernelOp *end) {
    for (const KernelOp &kernelOp : group.getOps()) {
      if (&kernelOp == end)
        return;
      if (kernelOp.form == OpForm::Element)
        emitter.emitElements(kernelOp, chunk);
    }
  }

  /// Computes all elements of the row, and stores those that are needed.
  void storeInLoop() {
    bool storesAny = llvm::any_of(group.getWrites(), [&](const Access &write) {
      return write.place != Place::Result && !group.isTemporary(write.buffer);
    });
    if (!storesAny)
      return;
    loopOverChunks({}, [&](const Chunk &chunk, ValueRange) {
      computeElements(chunk, /*end=*/nullptr);
      emitter.storeElements();
      return SmallVector<Value>();
    });
  }

  void buildReduction(const KernelOp &kernelOp) {
    SmallVector<Value> partial;
    if (shape.chunksPerThread > 0) {
      for (const Chunk &chunk : chunks)
        partial = accumulate(kernelOp, chunk, partial);
    } else {
      SmallVector<Value> neutral;
      for (const Combiner &combiner : kernelOp.combiners)
        neutral.append(shape.length,
                       arith::ConstantOp::create(builder, combiner.neutral));
      partial =
          loopOverChunks(neutral, [&](const Chunk &chunk, ValueRange sums) {
            computeElements(chunk, &kernelOp);
            SmallVector<Value> next =
                accumulate(kernelOp, chunk, SmallVector<Value>(sums));
            emitter.dropElements();
            return next;
          });
    }
    SmallVector<Value> totals;
    for (auto [index, combiner] : llvm::enumerate(kernelOp.combiners)) {
      ArrayRef<Value> lanes =
          ArrayRef(partial).slice(index * shape.length, shape.length);
      Value sum = lanes.front();
      for (Value lane : lanes.drop_front())
        sum = combine(builder, combiner, sum, lane);
      totals.push_back(
          reduceThreads(builder, launch, combiner, sum, shape.threads));
    }
    emitter.emitTotals(kernelOp, totals);
  }

  /// \p partial, a value per result and element of a chunk, combined with what
  /// \p chunk contributes; none are the values before the first chunk.
  SmallVector<Value> accumulate(const KernelOp &kernelOp, const Chunk &chunk,
                                ArrayRef<Value> partial) {
    SmallVector<Value> next;
    for (auto [combiner, lanes] : llvm::zip_equal(
             kernelOp.combiners, emitter.emitContributions(kernelOp, chunk))) {
      for (Value value : lanes) {
        if (chunk.isActive) {
          Value neutral = arith::ConstantOp::create(builder, combiner.neutral);
          value =
              arith::SelectOp::create(builder, chunk.isActive, value, neutral);
        }
        next.push_back(partial.empty() ? value
                                       : combine(builder, combiner,
                                                 partial[next.size()], value));
      }
    }
    return next;
  }

  SmallVector<Value> loopOverChunks(
      ArrayRef<Value> initial,
      llvm::function_ref<SmallVector<Value>(const Chunk &, ValueRange)> body) {
    auto loop = scf::ForOp::create(
        builder, launch.getThreadIds().x, createIndex(builder, shape.chunks),
        createIndex(builder, shape.threads), initial);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value column =
        multiplyAdd(builder, loop.getInductionVar(), shape.length, Value());
    SmallVector<Value> next =
        body({column, shape.length, Value()}, loop.getRegionIterArgs());
    if (!initial.empty())
      scf::YieldOp::create(builder, next);
    return SmallVector<Value>(loop.getResults());
  }

  void storeRows() {
    Value isFirst =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                              launch.getThreadIds().x, createIndex(builder, 0));
    auto branch = scf::IfOp::create(builder, isFirst);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    emitter.storeRows();
  }

  const KernelGroup &group;
  RowShape shape;
  gpu::LaunchOp launch;
  ImplicitLocOpBuilder &builder;
  ChunkEmitter emitter;
  SmallVector<Chunk> chunks;
};
} // namespace

LogicalResult cuda::emitRows(const KernelGroup &group, Launcher &launcher,
                             ImplicitLocOpBuilder &builder) {
  RowShape shape = chooseShape(group);
  gpu::LaunchOp launch =
      launcher.create(builder,
                      {group.getSpace().rows / shape.rowsPerBlock,
                       shape.threads, shape.rowsPerBlock},
                      "rows_");
  Value row = launch.getBlockIds().x;
  if (shape.rowsPerBlock > 1)
    row =
        multiplyAdd(builder, row, shape.rowsPerBlock, launch.getThreadIds().y);
  RowKernel(group, shape, launch, builder,
            group.getSpace().rows > 1 ? row : Value())
      .build();
  return sinkOperands(launch);
}
