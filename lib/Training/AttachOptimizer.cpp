//===- AttachOptimizer.cpp - One update per trainable parameter
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Training/Passes.h"
#include "pipewright/Training/WeightGradients.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace pipewright {
#define GEN_PASS_DEF_ATTACHOPTIMIZER
#include "pipewright/Training/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct AttachOptimizer
    : pipewright::impl::AttachOptimizerBase<AttachOptimizer> {
  using AttachOptimizerBase::AttachOptimizerBase;

  void runOnOperation() override;
};
} // namespace

void AttachOptimizer::runOnOperation() {
  ModuleOp module = getOperation();
  std::optional<pp::Optimizer> rule = pp::symbolizeOptimizer(optimizer);
  if (!rule) {
    module.emitError() << "unknown optimizer '" << optimizer
                       << "'; choose 'sgd' or 'adamw'";
    return signalPassFailure();
  }
  if (!module.getOps<pp::UpdateRuleOp>().empty()) {
    module.emitError("has an optimizer already");
    return signalPassFailure();
  }

  llvm::StringMap<SmallVector<int64_t>> layers = findWeightGradients(module);
  auto builder = OpBuilder::atBlockEnd(module.getBody());
  pp::UpdateRuleOp::create(builder, module.getLoc(), *rule);
  for (auto parameter : module.getOps<pp::ParameterOp>())
    if (parameter.getTrainable())
      pp::UpdateOp::create(builder, parameter.getLoc(), parameter.getSymName(),
                           layers.lookup(parameter.getSymName()));
  pp::setPhase(module, pp::Phase::Training);
}
