//===- SeparateFills.cpp - A tensor of zeros for each sum
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace pipewright {
#define GEN_PASS_DEF_SEPARATEFILLS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

/// A copy of \p fill, over an empty tensor of its own, before \p user.
static Value copyFill(linalg::FillOp fill, tensor::EmptyOp empty,
                      Operation *user) {
  OpBuilder builder(user);
  IRMapping mapping;
  builder.clone(*empty, mapping);
  return builder.clone(*fill, mapping)->getResult(0);
}

namespace {
struct SeparateFills : pipewright::impl::SeparateFillsBase<SeparateFills> {
  void runOnOperation() override {
    SmallVector<linalg::FillOp> fills;
    getOperation().walk([&](linalg::FillOp fill) { fills.push_back(fill); });
    for (linalg::FillOp fill : fills) {
      if (fill->getNumResults() != 1)
        continue;
      auto empty = fill.output().getDefiningOp<tensor::EmptyOp>();
      if (!empty)
        continue;
      // All but the first op in the order of uses, whichever that is.
      for (OpOperand &use :
           llvm::make_early_inc_range(llvm::drop_begin(fill->getUses())))
        use.set(copyFill(fill, empty, use.getOwner()));
    }
  }
};
} // namespace
