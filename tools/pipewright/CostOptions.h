//===- CostOptions.h - What layers are priced by ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_COSTOPTIONS_H
#define PIPEWRIGHT_TOOLS_COSTOPTIONS_H

#include "CommandLine.h"

#include "pipewright/Driver/BuildOptions.h"

namespace pipewright {

/// The options by which a subcommand prices the layers of a model.
struct CostOptions {
  CostOptions(llvm::cl::SubCommand &command,
              llvm::cl::OptionCategory &category);

  /// Writes what was given into \p options; false, with a message, if it makes
  /// no sense.
  bool apply(BuildOptions &options) const;

  bool hasDevice() const { return device.getNumOccurrences() != 0; }

  llvm::cl::opt<std::string> device, profile, layerTimes;
};

/// The option of a subcommand that plans for a machine.
struct TopologyOption {
  TopologyOption(llvm::cl::SubCommand &command,
                 llvm::cl::OptionCategory &category);

  /// Writes the topology into \p options, and its first device unless
  /// \p costs name one; false, with a message, if it cannot be read.
  bool apply(const CostOptions &costs, BuildOptions &options) const;

  llvm::cl::opt<std::string> topology;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_COSTOPTIONS_H
