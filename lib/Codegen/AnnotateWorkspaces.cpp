//===- AnnotateWorkspaces.cpp - How much scratch memory each task needs
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/CodeGenerator.h"
#include "pipewright/Codegen/Passes.h"

namespace pipewright {
#define GEN_PASS_DEF_ANNOTATEWORKSPACES
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct AnnotateWorkspaces
    : pipewright::impl::AnnotateWorkspacesBase<AnnotateWorkspaces> {
  using AnnotateWorkspacesBase::AnnotateWorkspacesBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerCodegenDialects(registry);
  }
  void runOnOperation() override;
};
} // namespace

void AnnotateWorkspaces::runOnOperation() {
  ModuleOp module = getOperation();
  const CodegenTarget *target =
      TargetRegistry::get().findOrReport(targetName, module.getLoc());
  if (!target)
    return signalPassFailure();
  // What can be said of the code is said once, by who emits it.
  ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
  });
  CodeGenerator generator(*target, TargetOptions{processor, convolutions});
  FailureOr<llvm::StringMap<int64_t>> bytes =
      generator.computeTaskWorkspaces(module);
  if (failed(bytes))
    return signalPassFailure();
  for (auto task : module.getOps<pp::TaskOp>())
    task.setWorkspaceBytes(bytes->lookup(task.getSymName()));
}
