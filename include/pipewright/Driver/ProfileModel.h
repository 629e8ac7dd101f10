//===- ProfileModel.h - Times the layers of a model -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_PROFILEMODEL_H
#define PIPEWRIGHT_DRIVER_PROFILEMODEL_H

#include "pipewright/Cost/Profile.h"
#include "pipewright/Driver/Compiler.h"

namespace pipewright {

/// How to measure.
struct ProfileLimits {
  /// Ranks that will share the machine: so many time the layers at once.
  int64_t ranks = 1;
  /// Each time is taken at least so often, and for at least so long in all.
  int64_t rounds = 10;
  double seconds = 5;
  /// Of mpirun: where the ranks run; empty: on this machine.
  std::string hostfile = {};
};

/// Compiles the layers of the model of \p options for its target and times
/// them, and messages between each two of the ranks, of which there are at
/// least two then. With a file of hosts, the folder of the options' output is
/// one that all hosts see.
mlir::FailureOr<Profile> profileModel(const BuildOptions &options,
                                      const ProfileLimits &limits,
                                      mlir::MLIRContext &context,
                                      PhaseListener listener);

/// Refuses the profile in the file of \p options if it is not one of \p module,
/// which was read from the model file.
mlir::LogicalResult checkProfile(mlir::ModuleOp module,
                                 const BuildOptions &options);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_PROFILEMODEL_H
