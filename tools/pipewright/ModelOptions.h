//===- ModelOptions.h - Options of all that read a model --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_MODELOPTIONS_H
#define PIPEWRIGHT_TOOLS_MODELOPTIONS_H

#include "CommandLine.h"

#include "pipewright/Driver/BuildOptions.h"

namespace pipewright {

/// The options by which a subcommand reads a model, and its loss.
struct ModelOptions {
  ModelOptions(llvm::cl::SubCommand &command,
               llvm::cl::OptionCategory &category);

  /// Writes what was given into \p options; false, with a message, if it makes
  /// no sense.
  bool apply(BuildOptions &options) const;

  llvm::cl::opt<std::string> model;
  llvm::cl::list<std::string> bind;
  llvm::cl::opt<int64_t> microbatchSize;
  llvm::cl::opt<bool> allowExternalSymlinks, separateCopies;
  llvm::cl::opt<std::string> paramsFromInputs, weights;
  llvm::cl::opt<std::string> loss;
  llvm::cl::opt<int64_t> ignoreIndex;
  llvm::cl::opt<std::string> train, freeze;
  llvm::cl::opt<bool> forwardOnly;
  llvm::cl::opt<std::string> precision;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_MODELOPTIONS_H
