//===- EmitParallel.cpp - A thread for an iteration of parallel loops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitKernels.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;

static constexpr int64_t threadsPerBlock = 256;

/// How often each loop runs; fails unless all run over [0, n) for a known n.
static FailureOr<SmallVector<int64_t>> getExtents(scf::ParallelOp loops) {
  SmallVector<int64_t> extents;
  for (auto [lower, upper, step] : llvm::zip_equal(
           loops.getLowerBound(), loops.getUpperBound(), loops.getStep())) {
    std::optional<int64_t> extent = getConstantIntValue(upper);
    if (getConstantIntValue(lower) != 0 || getConstantIntValue(step) != 1 ||
        !extent)
      return failure();
    extents.push_back(*extent);
  }
  return extents;
}

LogicalResult cuda::emitParallel(scf::ParallelOp loops, Launcher &launcher,
                                 ImplicitLocOpBuilder &builder) {
  FailureOr<SmallVector<int64_t>> extents = getExtents(loops);
  if (failed(extents) || loops.getNumReductions() > 0)
    return loops.emitOpError("has no kernel: it is not known how often it "
                             "runs, or it has results");
  int64_t threads = ShapedType::getNumElements(*extents);
  if (threads == 0)
    return success();
  int64_t blocks = llvm::divideCeil(threads, threadsPerBlock);
  gpu::LaunchOp launch =
      launcher.create(builder, {blocks, threadsPerBlock}, "parallel_");
  Value thread = multiplyAdd(builder, launch.getBlockIds().x, threadsPerBlock,
                             launch.getThreadIds().x);
  if (threads < blocks * threadsPerBlock) {
    auto branch = scf::IfOp::create(builder, isBelow(builder, thread, threads));
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  IRMapping mapping;
  mapping.map(loops.getInductionVars(), delinearize(builder, thread, *extents));
  for (Operation &op : loops.getBody()->without_terminator())
    builder.clone(op, mapping);
  return sinkOperands(launch);
}
