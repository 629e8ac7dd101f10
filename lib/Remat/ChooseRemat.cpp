//===- ChooseRemat.cpp - What is kept of each layer
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Remat/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace pipewright {
#define GEN_PASS_DEF_CHOOSEREMAT
#include "pipewright/Remat/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct ChooseRemat : pipewright::impl::ChooseRematBase<ChooseRemat> {
  using ChooseRematBase::ChooseRematBase;

  void runOnOperation() override;

private:
  LogicalResult listPolicies(pp::ModelOp model, size_t count);

  /// One for each layer.
  SmallVector<pp::RematPolicy> policies;
};
} // namespace

LogicalResult ChooseRemat::listPolicies(pp::ModelOp model, size_t count) {
  policies.assign(count, policy);
  if (layers.empty())
    return success();
  if (policy != pp::RematPolicy::None)
    return model.emitError("cannot be recomputed by the policy '")
           << pp::stringifyRematPolicy(policy)
           << "' and by a list of policies at once";
  if (layers.size() != count)
    return model.emitError("has ") << count << " layers, but policies for "
                                   << layers.size() << " are given";
  for (auto [name, chosen] : llvm::zip_equal(*layers, policies)) {
    std::optional<pp::RematPolicy> known = pp::symbolizeRematPolicy(name);
    if (!known)
      return model.emitError("cannot be recomputed by the policy '")
             << name << "'; there are none, selective and full";
    chosen = *known;
  }
  return success();
}

void ChooseRemat::runOnOperation() {
  pp::ModelOp model = pp::getModel(getOperation());
  if (!model) {
    getOperation().emitError("has no 'pp.model' whose layers to recompute");
    return signalPassFailure();
  }
  SmallVector<pp::LayerOp> ops(model.getBody().getOps<pp::LayerOp>());
  if (failed(listPolicies(model, ops.size())))
    return signalPassFailure();
  for (auto [layer, chosen] : llvm::zip_equal(ops, policies))
    layer.setRemat(chosen);
}
