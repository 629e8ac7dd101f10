//===- OverlapChecker.cpp - What may not run at the same time
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OverlapChecker.h"

using namespace mlir;
using namespace pipewright;

OverlapChecker::Place pipewright::getUnplannedPlace(pp::BindingAttr binding,
                                                    int64_t microbatch) {
  bool isShared = binding.getKind() == pp::BindingKind::Gradient;
  return {binding, isShared ? 0 : microbatch, /*offset=*/0, /*bytes=*/0};
}

LogicalResult OverlapChecker::visit(Operation *op, int64_t microbatch,
                                    FindPlace findPlace) {
  if (isa<pp::OverlapOp>(op))
    accesses.clear();
  if (!isa<pp::OverlapOp>(op->getParentOp()))
    return success();
  auto addBinding = [&](pp::BindingAttr binding, bool isWrite) {
    return add({op, microbatch, isWrite, findPlace(binding, microbatch)});
  };
  if (auto exchange = dyn_cast<pp::AllToAllOp>(op)) {
    auto bind = [&](pp::BindingKind kind) {
      return pp::BindingAttr::get(op->getContext(), kind, exchange.getSymbol());
    };
    return success(
        succeeded(addBinding(bind(pp::BindingKind::Sent), /*isWrite=*/false)) &&
        succeeded(
            addBinding(bind(pp::BindingKind::Received), /*isWrite=*/true)));
  }
  auto run = dyn_cast<pp::RunOp>(op);
  if (!run)
    return success();
  pp::TaskOp task = graph.getTask(run.getSymbol());
  for (auto [bindings, isWrite] :
       {std::pair(task.getResultBindings(), true),
        std::pair(task.getArgumentBindings(), false)})
    for (auto binding : bindings.getAsRange<pp::BindingAttr>())
      if (failed(addBinding(binding, isWrite)))
        return failure();
  return addBinding(task.getWorkspaceBinding(), /*isWrite=*/true);
}

LogicalResult OverlapChecker::add(const Access &access) {
  for (const Access &other : accesses)
    if (other.place.meets(access.place) && (access.isWrite || other.isWrite) &&
        access.op->getParentRegion() != other.op->getParentRegion())
      return report(access, other);
  accesses.push_back(access);
  return success();
}

LogicalResult OverlapChecker::report(const Access &access,
                                     const Access &other) const {
  auto describe = [](Access access) {
    auto run = dyn_cast<pp::RunOp>(access.op);
    StringRef name =
        run ? run.getSymbol() : cast<pp::AllToAllOp>(access.op).getSymbol();
    return ((run ? "task '" : "exchange '") + name + "' of micro-batch " +
            Twine(access.microbatch))
        .str();
  };
  auto getVerb = [](const Access &access) {
    return access.isWrite ? " writes " : " reads ";
  };
  pp::BindingAttr binding = access.place.binding;
  bool isGradient = binding.getKind() == pp::BindingKind::Gradient;
  InFlightDiagnostic diag = access.op->emitError()
                            << getName(isGradient ? Rule::S7 : rule) << ": "
                            << describe(access) << getVerb(access) << binding
                            << " at the same time as " << describe(other)
                            << getVerb(other);
  if (binding == other.place.binding)
    diag << "it";
  else
    diag << other.place.binding << " in the same memory";
  diag << "; run one after the other";
  diag.attachNote(other.op->getLoc()) << "which is here";
  return failure();
}
