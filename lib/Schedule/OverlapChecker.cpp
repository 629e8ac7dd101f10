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
  return {binding, isShared ? 0 : microbatch};
}

LogicalResult OverlapChecker::visit(Operation *op, int64_t microbatch,
                                    FindPlace findPlace) {
  if (isa<pp::OverlapOp>(op))
    accesses.clear();
  auto run = dyn_cast<pp::RunOp>(op);
  if (!run || !isa<pp::OverlapOp>(run->getParentOp()))
    return success();
  pp::TaskOp task = graph.getTask(run.getSymbol());
  for (auto [bindings, isWrite] :
       {std::pair(task.getResultBindings(), true),
        std::pair(task.getArgumentBindings(), false)})
    for (auto binding : bindings.getAsRange<pp::BindingAttr>())
      if (failed(add({run, microbatch, isWrite}, binding,
                     findPlace(binding, microbatch))))
        return failure();
  return success();
}

LogicalResult OverlapChecker::add(const Access &access, pp::BindingAttr binding,
                                  const Place &place) {
  for (auto [known, other] : accesses)
    if (known == place && (access.isWrite || other.isWrite) &&
        access.run->getParentRegion() != other.run->getParentRegion())
      return report(access, other, binding);
  accesses.push_back({place, access});
  return success();
}

LogicalResult OverlapChecker::report(const Access &access, const Access &other,
                                     pp::BindingAttr binding) const {
  auto describe = [](Access access) {
    return ("task '" + access.run.getSymbol() + "' of micro-batch " +
            Twine(access.microbatch))
        .str();
  };
  auto getVerb = [](const Access &access) {
    return access.isWrite ? " writes " : " reads ";
  };
  bool isGradient = binding.getKind() == pp::BindingKind::Gradient;
  pp::RunOp run = access.run, otherRun = other.run;
  InFlightDiagnostic diag = run->emitError()
                            << getName(isGradient ? Rule::S7 : rule) << ": "
                            << describe(access) << getVerb(access) << binding
                            << " at the same time as " << describe(other)
                            << getVerb(other) << "it; run one after the other";
  diag.attachNote(otherRun.getLoc()) << "which is here";
  return failure();
}
