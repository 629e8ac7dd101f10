//===- PackageBuild.h - A plan becomes a build directory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PACKAGE_PACKAGEBUILD_H
#define PIPEWRIGHT_PACKAGE_PACKAGEBUILD_H

#include "pipewright/Codegen/Target.h"
#include "pipewright/Package/PlanSummary.h"
#include "pipewright/Package/Report.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace pipewright {

struct PackageOptions {
  /// The directory to make.
  std::string output;
  bool force = false;
  /// The model, for its SHA-256 in the manifest.
  std::string modelFile;
  std::string target;
  TargetOptions targetOptions;
  /// The pass pipeline that made the plan.
  std::string pipeline;
  /// The runtime library, which is copied into the directory.
  std::string runtimeLibrary;
};

/// Compiles each rank of \p module and writes the build directory, which
/// appears whole or not at all. Requires the phase Program.
mlir::LogicalResult packageBuild(mlir::ModuleOp module, const PlanSummary &plan,
                                 const PredictedStep &step,
                                 const PackageOptions &options);

} // namespace pipewright

#endif // PIPEWRIGHT_PACKAGE_PACKAGEBUILD_H
