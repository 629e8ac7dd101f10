//===- Shape.cpp - What shape ops compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorRegistry.h"
#include "Indexing.h"

#include "llvm/ADT/STLFunctionalExtras.h"

using namespace mlir;
using namespace pipewright::nn;

static LogicalResult evaluateConstant(ConstantOp op, ArrayRef<HostTensor>,
                                      MutableArrayRef<HostTensor> results) {
  FailureOr<HostTensor> value = HostTensor::fromAttribute(op.getValue());
  if (failed(value))
    return op.emitOpError("holds its value outside of the IR");
  results.front() = std::move(*value);
  return success();
}

/// Fills each element of the result with the element of \p operand at the
/// index that \p source writes for it.
static void
copyFrom(const HostTensor &operand, HostTensor &result,
         llvm::function_ref<void(ArrayRef<int64_t>, MutableArrayRef<int64_t>)>
             source) {
  SmallVector<int64_t> from(operand.getRank(), 0);
  forEachElement(result.getShape(), [&](ArrayRef<int64_t> index,
                                        int64_t position) {
    source(index, from);
    result.setElement(position, operand, linearize(from, operand.getShape()));
  });
}

static void evaluateReshape(ReshapeOp, ArrayRef<HostTensor> operands,
                            HostTensor &result) {
  for (int64_t i = 0, e = result.getNumElements(); i < e; ++i)
    result.setElement(i, operands[0], i);
}

static void evaluateTranspose(TransposeOp op, ArrayRef<HostTensor> operands,
                              HostTensor &result) {
  copyFrom(operands[0], result,
           [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
             for (auto [i, axis] : llvm::zip_equal(index, op.getPermutation()))
               from[axis] = i;
           });
}

static void evaluateBroadcast(BroadcastOp, ArrayRef<HostTensor> operands,
                              HostTensor &result) {
  ArrayRef<int64_t> shape = operands[0].getShape();
  copyFrom(operands[0], result,
           [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
             ArrayRef<int64_t> aligned = index.take_back(shape.size());
             for (auto [to, i, size] : llvm::zip_equal(from, aligned, shape))
               to = size == 1 ? 0 : i;
           });
}

static void evaluateSlice(SliceOp op, ArrayRef<HostTensor> operands,
                          HostTensor &result) {
  copyFrom(operands[0], result,
           [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
             for (auto [to, i, offset, stride] : llvm::zip_equal(
                      from, index, op.getOffsets(), op.getStrides()))
               to = offset + i * stride;
           });
}

static void evaluateReverse(ReverseOp op, ArrayRef<HostTensor> operands,
                            HostTensor &result) {
  copyFrom(operands[0], result,
           [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> from) {
             llvm::copy(index, from.begin());
             for (int64_t axis : op.getAxes())
               from[axis] = result.getShape()[axis] - 1 - index[axis];
           });
}

static void evaluatePad(PadOp op, ArrayRef<HostTensor> operands,
                        HostTensor &result) {
  double value = op.getValue().convertToDouble();
  if (result.isFloat())
    llvm::fill(result.getFloats(), value);
  else
    llvm::fill(result.getIntegers(), static_cast<int64_t>(value));

  SmallVector<int64_t> to(result.getRank());
  forEachElement(operands[0].getShape(), [&](ArrayRef<int64_t> index,
                                             int64_t position) {
    for (auto [target, i, low, interior] :
         llvm::zip_equal(to, index, op.getLow(), op.getInterior()))
      target = low + i * (interior + 1);
    result.setElement(linearize(to, result.getShape()), operands[0], position);
  });
}

static void evaluateConcat(ConcatOp op, ArrayRef<HostTensor> operands,
                           HostTensor &result) {
  int64_t offset = 0;
  for (const HostTensor &part : operands) {
    forEachElement(
        part.getShape(), [&](ArrayRef<int64_t> index, int64_t position) {
          SmallVector<int64_t> to(index);
          to[op.getAxis()] += offset;
          result.setElement(linearize(to, result.getShape()), part, position);
        });
    offset += part.getShape()[op.getAxis()];
  }
}

namespace pipewright::nn {
void registerShape(EvaluatorRegistry &registry) {
  registry.addFallible<ConstantOp>(evaluateConstant);
  registry.add<ReshapeOp>(evaluateReshape);
  registry.add<TransposeOp>(evaluateTranspose);
  registry.add<BroadcastOp>(evaluateBroadcast);
  registry.add<SliceOp>(evaluateSlice);
  registry.add<ReverseOp>(evaluateReverse);
  registry.add<PadOp>(evaluatePad);
  registry.add<ConcatOp>(evaluateConcat);
}
} // namespace pipewright::nn
