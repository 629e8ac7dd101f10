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
  auto run = dyn_cast<pp::RunOp>(op);
  if (!run || !isa<pp::OverlapOp>(run->getParentOp()))
    return success();
  pp::TaskOp task = graph.getTask(run.getSymbol());
  auto addBinding = [&](pp::BindingAttr binding, bool isWrite) {
    return add({run, microbatch, isWrite, findPlace(binding, microbatch)});
  };
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
        access.run->getParentRegion() != other.run->getParentRegion())
      return report(access, other);
  accesses.push_back(access);
  return success();
}

LogicalResult OverlapChecker::report(const Access &access,
                                     const Access &other) const {
  auto describe = [](Access access) {
    return ("task '" + access.run.getSymbol() + "' of micro-batch " +
            Twine(access.microbatch))
        .str();
  };
  auto getVerb = [](const Access &access) {
    return access.isWrite ? " writes " : " reads ";
  };
  pp::BindingAttr binding = access.place.binding;
  bool isGradient = binding.getKind() == pp::BindingKind::Gradient;
  pp::RunOp run = access.run, otherRun = other.run;
  InFlightDiagnostic diag = run->emitError()
                            << getName(isGradient ? Rule::S7 : rule) << ": "
                            << describe(access) << getVerb(access) << binding
                            << " at the same time as " << describe(other)
                            << getVerb(other);
  if (binding == other.place.binding)
    diag << "it";
  else
    diag << other.place.binding << " in the same memory";
  diag << "; run one after the other";
  diag.attachNote(otherRun.getLoc()) << "which is here";
  return failure();
}
