//===- Convolution.cpp - What sliding windows compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorRegistry.h"
#include "Indexing.h"

using namespace mlir;
using namespace pipewright::nn;

/// Calls `visit(window position, image position)` for each element of the
/// windows, in the order of their memory.
template <typename OpTy, typename Visitor>
static void forEachWindowElement(OpTy op, ArrayRef<int64_t> windows,
                                 ArrayRef<int64_t> image, Visitor visit) {
  int64_t spatial = image.size() - 2;
  SmallVector<int64_t> from(image.size(), 0);
  forEachElement(windows, [&](ArrayRef<int64_t> index, int64_t position) {
    from[0] = index[0];
    from[1] = index[1];
    for (int64_t axis = 0; axis < spatial; ++axis)
      from[2 + axis] = index[2 + spatial + axis] * op.getStrides()[axis] +
                       index[2 + axis] * op.getDilations()[axis];
    visit(position, linearize(from, image));
  });
}

static void evaluateIm2Col(Im2ColOp op, ArrayRef<HostTensor> operands,
                           HostTensor &result) {
  forEachWindowElement(op, result.getShape(), operands[0].getShape(),
                       [&](int64_t to, int64_t from) {
                         result.setElement(to, operands[0], from);
                       });
}

static void evaluateCol2Im(Col2ImOp op, ArrayRef<HostTensor> operands,
                           HostTensor &result) {
  ArrayRef<double> windows = operands[0].getFloats();
  MutableArrayRef<double> sums = result.getFloats();
  forEachWindowElement(
      op, operands[0].getShape(), result.getShape(),
      [&](int64_t from, int64_t to) { sums[to] += windows[from]; });
}

namespace pipewright::nn {
void registerConvolution(EvaluatorRegistry &registry) {
  registry.add<Im2ColOp>(evaluateIm2Col);
  registry.add<Col2ImOp>(evaluateCol2Im);
}
} // namespace pipewright::nn
