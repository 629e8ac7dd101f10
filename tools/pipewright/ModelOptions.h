//===- ModelOptions.h - Options of all that read a model --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_MODELOPTIONS_H
#define PIPEWRIGHT_TOOLS_MODELOPTIONS_H

#include "pipewright/Driver/BuildOptions.h"

#include "llvm/Support/CommandLine.h"

namespace pipewright {

/// Exit codes of the tool.
enum ExitCode : int { done = 0, refused = 1, wrongCommandLine = 2 };

/// The options by which a subcommand reads a model, and its loss.
struct ModelOptions {
  ModelOptions(llvm::cl::SubCommand &command, llvm::cl::OptionCategory &category);

  /// Writes what was given into \p options; false, with a message, if it makes
  /// no sense.
  bool apply(BuildOptions &options) const;

  llvm::cl::opt<std::string> model;
  llvm::cl::list<std::string> bind;
  llvm::cl::opt<int64_t> microbatchSize;
  llvm::cl::opt<bool> allowExternalSymlinks;
  llvm::cl::opt<std::string> loss;
  llvm::cl::opt<int64_t> ignoreIndex;
  llvm::cl::opt<std::string> train, freeze;
  llvm::cl::opt<bool> forwardOnly;
};

/// Parses the arguments of a subcommand, argv[0] being its name; false, with a
/// message, if they are wrong. `--help` ends the program.
bool parseArguments(llvm::ArrayRef<const char *> argv,
                    llvm::cl::SubCommand &command,
                    llvm::cl::OptionCategory &category, llvm::StringRef example);

/// Prints "pipewright: error: <message>"; returns `refused`.
int refuse(const llvm::Twine &message);

/// The number of bytes in `24GiB`, `512MiB`, `1000`.
std::optional<int64_t> parseBytes(llvm::StringRef text);

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_MODELOPTIONS_H
