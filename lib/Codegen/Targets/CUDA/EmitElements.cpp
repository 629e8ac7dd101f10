//===- EmitElements.cpp - A thread for a few elements
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

/// Enough for any number of registers, and a few blocks a multiprocessor.
static constexpr int64_t threadsPerBlock = 256;

static void emitChunks(const KernelGroup &group, ArrayRef<Chunk> chunks,
                       ImplicitLocOpBuilder &builder) {
  ChunkEmitter emitter(group, builder, /*row=*/Value());
  for (const KernelOp &kernelOp : group.getOps())
    for (const Chunk &chunk : chunks)
      emitter.emitElements(kernelOp, chunk);
  emitter.storeElements();
}

LogicalResult cuda::emitElements(const KernelGroup &group, Launcher &launcher,
                                 ImplicitLocOpBuilder &builder) {
  if (group.getSpace().columns == 0)
    return success();
  int64_t length = group.getVectorLength();
  while (length > group.getSpace().columns)
    length /= 2;
  int64_t whole = group.getSpace().columns / length;
  int64_t rest = group.getSpace().columns % length;
  int64_t threads = whole + (rest > 0);
  int64_t blocks = llvm::divideCeil(threads, threadsPerBlock);
  gpu::LaunchOp launch =
      launcher.create(builder, {blocks, threadsPerBlock}, "elements_");
  Value thread = multiplyAdd(builder, launch.getBlockIds().x, threadsPerBlock,
                             launch.getThreadIds().x);

  if (whole < blocks * threadsPerBlock) {
    auto branch = scf::IfOp::create(builder, isBelow(builder, thread, whole),
                                    /*withElseRegion=*/rest > 0);
    if (rest > 0) {
      // One thread computes what is left over.
      builder.setInsertionPoint(branch.elseBlock()->getTerminator());
      auto last = scf::IfOp::create(builder, isBelow(builder, thread, threads));
      builder.setInsertionPoint(last.thenBlock()->getTerminator());
      SmallVector<Chunk> single;
      for (int64_t index = whole * length; index < whole * length + rest;
           ++index)
        single.push_back({createIndex(builder, index), 1, Value()});
      emitChunks(group, single, builder);
    }
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  Value column = multiplyAdd(builder, thread, length, Value());
  emitChunks(group, Chunk{column, length, Value()}, builder);
  return sinkOperands(launch);
}
