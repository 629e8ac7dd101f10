//===- Compiler.h - From a model file to a build directory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_COMPILER_H
#define PIPEWRIGHT_DRIVER_COMPILER_H

#include "pipewright/Driver/BuildOptions.h"
#include "pipewright/Driver/StepModel.h"
#include "pipewright/Package/PlanSummary.h"
#include "pipewright/Package/Report.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pipewright {

struct ImportNotes;

/// Reads the model of \p options, and into \p notes what else its file says;
/// null, with diagnostics, if it is refused.
mlir::OwningOpRef<mlir::ModuleOp> loadModel(const BuildOptions &options,
                                            mlir::MLIRContext &context,
                                            ImportNotes *notes = nullptr);

/// Called with the name of each phase as it begins.
using PhaseListener = llvm::function_ref<void(llvm::StringRef)>;

/// Takes an imported module through all phases up to Program; the options are
/// those that resolveSchedule completed, and get the placement that the layers'
/// costs ask for.
mlir::LogicalResult runPhases(mlir::ModuleOp module, BuildOptions &options,
                              PhaseListener listener);

/// Takes an imported module through the phases that work on layers, up to
/// Training.
mlir::LogicalResult runLayerPhases(mlir::ModuleOp module,
                                   const BuildOptions &options,
                                   PhaseListener listener);

/// Takes an imported module as far as its layers have a cost. Without a loss or
/// a profile, that of the forward alone is known, and backward is estimated
/// from it.
mlir::LogicalResult priceLayers(mlir::ModuleOp module,
                                const BuildOptions &options);

/// The library that executables for \p target are linked with: beside this
/// program, in the build tree and where it is installed.
std::string findRuntimeLibrary(llvm::StringRef target);

/// What a step of the plan that a build of \p options would have is simulated
/// from; what is wrong is a diagnostic of \p context.
mlir::FailureOr<StepModel> planStep(BuildOptions options,
                                    mlir::MLIRContext &context,
                                    PhaseListener listener);

struct BuildResult {
  PlanSummary plan;
  PredictedStep step;
};

/// Makes the build directory. Everything that is wrong is a diagnostic of
/// \p context; then nothing is written.
mlir::FailureOr<BuildResult>
build(BuildOptions options, mlir::MLIRContext &context, PhaseListener listener);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_COMPILER_H
