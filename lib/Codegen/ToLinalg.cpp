//===- ToLinalg.cpp - From nn ops to linalg ops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linalg/Patterns.h"

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace pipewright {
#define GEN_PASS_DEF_TOLINALG
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct ToLinalg : pipewright::impl::ToLinalgBase<ToLinalg> {
  void runOnOperation() override {
    joinPads(getOperation());
    RewritePatternSet patterns(&getContext());
    populateAttentionToLinalg(patterns);
    populateConvolutionToLinalg(patterns);
    populateElementwiseToLinalg(patterns);
    populateEmbeddingToLinalg(patterns);
    populateExpertsToLinalg(patterns);
    populateLossToLinalg(patterns);
    populateMatMulToLinalg(patterns);
    populateNormalizationToLinalg(patterns);
    populateRandomToLinalg(patterns);
    populateReductionToLinalg(patterns);
    populateShapeToLinalg(patterns);
    // From top to bottom, so that what writes into an accumulator is lowered
    // before the addition that says so.
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();

    getOperation().walk([&](Operation *op) {
      if (!isa<nn::NNDialect>(op->getDialect()) || isa<nn::KeepOp>(op))
        return;
      op->emitOpError("has no lowering to linalg");
      signalPassFailure();
    });
  }
};
} // namespace
