//===- EmitTiles.cpp - A block for a square of elements
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For elementwise ops that read an operand across, such as a transpose. A block
// loads a square of the operand along its lines, keeps it in shared memory, and
// computes the ops along the lines of the results.
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

/// The side of a square, and the lines of it that threads have at once.
static constexpr int64_t side = warpSize, lines = 8;

namespace {
class TileKernel {
public:
  TileKernel(const KernelGroup &group, ArrayRef<Crossing> crossings,
             ImplicitLocOpBuilder &builder)
      : group(group), crossings(crossings), builder(builder),
        extents(crossings.front().kernelOp->extents), along(extents.size() - 1),
        across(crossings.front().loop) {}

  LogicalResult build(Launcher &launcher) {
    SmallVector<int64_t> blocks;
    for (auto [loop, extent] : llvm::enumerate(extents))
      blocks.push_back(isTiled(loop) ? llvm::divideCeil(extent, side) : extent);
    launch = launcher.create(
        builder, {ShapedType::getNumElements(blocks), side, lines}, "tiles_");
    first = delinearize(builder, launch.getBlockIds().x, blocks);
    for (int64_t loop : {along, across})
      first[loop] = multiplyAdd(builder, first[loop], side, Value());

    for (const Crossing &crossing : crossings)
      addTile(crossing);
    for (int64_t line = 0; line < side; line += lines)
      load(line);
    gpu::BarrierOp::create(builder);
    compute();
    return sinkOperands(launch);
  }

private:
  bool isTiled(int64_t loop) const { return loop == along || loop == across; }

  void addTile(const Crossing &crossing) {
    auto type = cast<MemRefType>(crossing.operand->get().getType());
    auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                            gpu::AddressSpace::Workgroup);
    // A word more: the elements of a column are in different banks.
    int64_t bits = type.getElementTypeBitWidth();
    int64_t pitch =
        side + std::max<int64_t>(1, 32 / std::max<int64_t>(8, bits));
    tiles.push_back(launch.addWorkgroupAttribution(
        MemRefType::get({side, pitch}, type.getElementType(),
                        MemRefLayoutAttrInterface(), space),
        builder.getLoc()));
  }

  /// The number of this thread's line, of those that begin with \p line.
  Value getLine(int64_t line) {
    Value y = launch.getThreadIds().y;
    return line == 0 ? y
                     : multiplyAdd(builder, y, 1, createIndex(builder, line));
  }

  /// The indices of the element \p x of the line \p y, of which \p inLine is
  /// the loop along a line. Where the square reaches over the end, moves the
  /// builder to where the element exists.
  SmallVector<Value> getIndices(int64_t inLine, Value x, Value y) {
    SmallVector<Value> indices = first;
    for (int64_t loop : {along, across}) {
      Value offset = loop == inLine ? x : y;
      indices[loop] = multiplyAdd(builder, first[loop], 1, offset);
    }
    for (int64_t loop : {along, across}) {
      if (extents[loop] % side == 0)
        continue;
      auto branch = scf::IfOp::create(
          builder, isBelow(builder, indices[loop], extents[loop]));
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    return indices;
  }

  void load(int64_t line) {
    OpBuilder::InsertionGuard guard(builder);
    Value x = launch.getThreadIds().x, y = getLine(line);
    SmallVector<Value> indices = getIndices(across, x, y);
    for (auto [crossing, tile] : llvm::zip_equal(crossings, tiles)) {
      linalg::GenericOp op = crossing.kernelOp->op;
      AffineMap map = op.getMatchingIndexingMap(crossing.operand);
      Value value = memref::LoadOp::create(builder, crossing.operand->get(),
                                           applyMap(builder, map, indices));
      memref::StoreOp::create(builder, value, tile, ValueRange{y, x});
    }
  }

  void compute() {
    bool isWhole = extents[along] % side == 0 && extents[across] % side == 0;
    ChunkEmitter emitter(group, builder, /*row=*/Value());
    SmallVector<Chunk> chunks;
    for (int64_t line = 0; line < side; line += lines) {
      if (isWhole) {
        chunks.push_back(provide(line, emitter));
        continue;
      }
      OpBuilder::InsertionGuard guard(builder);
      ChunkEmitter single(group, builder, /*row=*/Value());
      Chunk chunk = provide(line, single);
      compute(chunk, single);
    }
    if (isWhole)
      compute(chunks, emitter);
  }

  /// The element of a line that the thread computes, of which \p emitter gets
  /// what is in shared memory.
  Chunk provide(int64_t line, ChunkEmitter &emitter) {
    Value x = launch.getThreadIds().x, y = getLine(line);
    SmallVector<Value> indices = getIndices(along, x, y);
    Value number = indices.front();
    for (auto [extent, index] :
         llvm::drop_begin(llvm::zip_equal(extents, indices)))
      number = multiplyAdd(builder, number, extent, index);
    emitter.provideIndices(extents, number, indices);
    for (auto [crossing, tile] : llvm::zip_equal(crossings, tiles))
      emitter.provide(
          *crossing.kernelOp, *crossing.operand, number,
          memref::LoadOp::create(builder, tile, ValueRange{x, y}).getResult());
    return {number, /*length=*/1, Value()};
  }

  void compute(ArrayRef<Chunk> chunks, ChunkEmitter &emitter) {
    for (const KernelOp &kernelOp : group.getOps())
      for (const Chunk &chunk : chunks)
        emitter.emitElements(kernelOp, chunk);
    emitter.storeElements();
  }

  const KernelGroup &group;
  ArrayRef<Crossing> crossings;
  ImplicitLocOpBuilder &builder;
  ArrayRef<int64_t> extents;
  /// The loops along the lines of the results and of the operands.
  int64_t along, across;
  gpu::LaunchOp launch;
  /// Where the square begins.
  SmallVector<Value> first;
  SmallVector<Value> tiles;
};
} // namespace

LogicalResult cuda::emitTiles(const KernelGroup &group,
                              ArrayRef<Crossing> crossings, Launcher &launcher,
                              ImplicitLocOpBuilder &builder) {
  return TileKernel(group, crossings, builder).build(launcher);
}
