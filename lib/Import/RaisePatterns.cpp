//===- RaisePatterns.cpp - Finds ops that exporters spell out
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/Passes.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace pipewright {
#define GEN_PASS_DEF_RAISEPATTERNS
#include "pipewright/Import/Passes.h.inc"

#define PIPEWRIGHT_ENTRY(pattern)                                              \
  void register##pattern(mlir::RewritePatternSet &patterns);
#include "pipewright/Import/RaisePatterns.def"
#undef PIPEWRIGHT_ENTRY
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct RaisePatterns : pipewright::impl::RaisePatternsBase<RaisePatterns> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
#define PIPEWRIGHT_ENTRY(pattern) register##pattern(patterns);
#include "pipewright/Import/RaisePatterns.def"
#undef PIPEWRIGHT_ENTRY
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
