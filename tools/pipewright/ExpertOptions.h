//===- ExpertOptions.h - How pipelines share experts out --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_EXPERTOPTIONS_H
#define PIPEWRIGHT_TOOLS_EXPERTOPTIONS_H

#include "CommandLine.h"

#include "pipewright/Driver/BuildOptions.h"

namespace pipewright {

/// The options of a subcommand whose pipelines have parts of all experts.
struct ExpertOptions {
  ExpertOptions(llvm::cl::SubCommand &command,
                llvm::cl::OptionCategory &category);

  /// Writes what was given into \p options; false, with a message, if it makes
  /// no sense.
  bool apply(BuildOptions &options) const;

  llvm::cl::opt<int64_t> peers;
  llvm::cl::opt<double> capacity;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_EXPERTOPTIONS_H
