//===- VerifyRemat.cpp - Check the border of the phase Remat
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Remat/Passes.h"

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace pipewright {
#define GEN_PASS_DEF_VERIFYREMAT
#include "pipewright/Remat/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct VerifyRemat : pipewright::impl::VerifyRematBase<VerifyRemat> {
  void runOnOperation() override;

private:
  LogicalResult addResults(pp::TaskOp task);
  LogicalResult checkArguments(pp::TaskOp task);

  /// Who makes a saved value, and of which type it is.
  struct Maker {
    pp::TaskOp task;
    Type type;
  };
  llvm::DenseMap<Attribute, Maker> makers;
};
} // namespace

static bool isSaved(Attribute binding) {
  return cast<pp::BindingAttr>(binding).getKind() == pp::BindingKind::Saved;
}

/// The place of a role in the order in which a stage runs its tasks.
static int getRoleOrder(pp::Role role) {
  switch (role) {
  case pp::Role::F:
    return 0;
  case pp::Role::R:
    return 1;
  case pp::Role::B:
  case pp::Role::BW:
    return 2;
  case pp::Role::W:
    return 3;
  }
  llvm_unreachable("a role without a place");
}

static std::pair<int, uint64_t> getOrder(pp::TaskOp task) {
  return {getRoleOrder(task.getRole()), task.getPart()};
}

LogicalResult VerifyRemat::addResults(pp::TaskOp task) {
  for (auto [value, binding] :
       llvm::zip_equal(task.getYield().getValues(), task.getResultBindings())) {
    if (!isSaved(binding))
      continue;
    auto [entry, isNew] =
        makers.try_emplace(binding, Maker{task, value.getType()});
    if (isNew)
      continue;
    InFlightDiagnostic diag = task.emitOpError("makes ")
                              << binding << " as another task does";
    diag.attachNote(entry->second.task.getLoc()) << "the other one is here";
    return diag;
  }
  return success();
}

LogicalResult VerifyRemat::checkArguments(pp::TaskOp task) {
  for (auto [argument, binding] : llvm::zip_equal(task.getBody().getArguments(),
                                                  task.getArgumentBindings())) {
    if (!isSaved(binding))
      continue;
    auto known = makers.find(binding);
    if (known == makers.end())
      return task.emitOpError("reads ")
             << binding << ", which is neither kept nor recomputed";
    Maker &maker = known->second;
    if (maker.task.getStage() != task.getStage() ||
        getOrder(maker.task) >= getOrder(task))
      return task.emitOpError("reads ")
             << binding << " of task '" << maker.task.getSymName()
             << "', which does not run before it on its stage";
    if (maker.type != argument.getType())
      return task.emitOpError("reads ")
             << binding << " as " << argument.getType() << ", but it is a "
             << maker.type;
  }
  return success();
}

void VerifyRemat::runOnOperation() {
  makers.clear();
  for (auto task : getOperation().getOps<pp::TaskOp>())
    if (failed(addResults(task)))
      return signalPassFailure();
  for (auto task : getOperation().getOps<pp::TaskOp>())
    if (failed(checkArguments(task)))
      return signalPassFailure();
}
