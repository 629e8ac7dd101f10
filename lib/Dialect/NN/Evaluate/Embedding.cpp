//===- Embedding.cpp - What look-ups compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorRegistry.h"
#include "Indexing.h"

using namespace mlir;
using namespace pipewright::nn;

/// The index \p value, counted from the end if negative, within \p size.
static FailureOr<int64_t> resolveIndex(Operation *op, int64_t value,
                                       int64_t size) {
  if (value < -size || value >= size)
    return op->emitOpError("reads index ")
           << value << " of an axis of size " << size;
  return value < 0 ? value + size : value;
}

/// Calls `visit(table position, slice position)` for each element that a
/// gather from \p table along \p axis moves, in the order of the indices.
template <typename Visitor>
static LogicalResult forEachMovedElement(Operation *op, AxisView table,
                                         ArrayRef<int64_t> indices,
                                         Visitor visit) {
  int64_t count = indices.size();
  for (int64_t o = 0; o < table.outer; ++o)
    for (int64_t i = 0; i < count; ++i) {
      FailureOr<int64_t> row = resolveIndex(op, indices[i], table.size);
      if (failed(row))
        return failure();
      for (int64_t k = 0; k < table.inner; ++k)
        visit(table.position(o, *row, k), (o * count + i) * table.inner + k);
    }
  return success();
}

static LogicalResult evaluateGather(GatherOp op, ArrayRef<HostTensor> operands,
                                    MutableArrayRef<HostTensor> results) {
  AxisView table(operands[0].getShape(), op.getAxis());
  return forEachMovedElement(op, table, operands[1].getIntegers(),
                             [&](int64_t from, int64_t to) {
                               results[0].setElement(to, operands[0], from);
                             });
}

static LogicalResult evaluateScatterAdd(ScatterAddOp op,
                                        ArrayRef<HostTensor> operands,
                                        MutableArrayRef<HostTensor> results) {
  ArrayRef<double> updates = operands[0].getFloats();
  MutableArrayRef<double> sums = results[0].getFloats();
  AxisView table(results[0].getShape(), op.getAxis());
  return forEachMovedElement(
      op, table, operands[1].getIntegers(),
      [&](int64_t to, int64_t from) { sums[to] += updates[from]; });
}

namespace pipewright::nn {
void registerEmbedding(EvaluatorRegistry &registry) {
  registry.addFallible<GatherOp>(evaluateGather);
  registry.addFallible<ScatterAddOp>(evaluateScatterAdd);
}
} // namespace pipewright::nn
