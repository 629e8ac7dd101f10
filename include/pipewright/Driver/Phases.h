//===- Phases.h - The phases of a build, in order -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A build is exactly these phases, one after the other. Each is a pipeline of
// passes; the text of the whole is in the manifest, and pp-opt replays it.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_PHASES_H
#define PIPEWRIGHT_DRIVER_PHASES_H

#include "pipewright/Driver/BuildOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"

namespace pipewright {

struct PhaseInfo {
  /// From 1, as in the architecture's table.
  int number;
  /// As everywhere: folder, library, `--emit-ir` file.
  llvm::StringRef name;
  /// Adds the passes of the phase. From Stages on the options must have been
  /// completed by resolveSchedule and choosePlacement.
  void (*build)(mlir::OpPassManager &pm, const BuildOptions &options);
};

/// The phases that work on the IR; Codegen and Package follow.
llvm::ArrayRef<PhaseInfo> getPhases();
/// Those before the phase called \p name, and from it on.
llvm::ArrayRef<PhaseInfo> getPhasesBefore(llvm::StringRef name);
llvm::ArrayRef<PhaseInfo> getPhasesFrom(llvm::StringRef name);

/// Runs the passes of \p phases on \p module.
mlir::LogicalResult runAll(llvm::ArrayRef<PhaseInfo> phases,
                           mlir::ModuleOp module, const BuildOptions &options);

/// The pass that says what is kept of each layer.
std::unique_ptr<mlir::Pass> createRematChoice(const BuildOptions &options);

/// The pass of Stages that cuts the model, for options that say how often.
std::unique_ptr<mlir::Pass> createBalance(const BuildOptions &options);

/// The passes of all phases, for completed options, as text that pp-opt's
/// `--pass-pipeline` takes.
std::string getPipelineText(const BuildOptions &options);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_PHASES_H
