//===- CommandLine.h - What all subcommands share ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_COMMANDLINE_H
#define PIPEWRIGHT_TOOLS_COMMANDLINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"

#include <cstdint>
#include <optional>

namespace pipewright {

/// Exit codes of the tool.
enum ExitCode : int { done = 0, refused = 1, wrongCommandLine = 2 };

/// Beyond these no machine goes, and numbers would overflow.
constexpr int64_t mostRanks = 65536, mostSamples = int64_t(1) << 40;

/// Parses the arguments of a subcommand, argv[0] being its name; false, with a
/// message, if they are wrong. `--help` prints \p moreHelp after the options
/// and ends the program.
bool parseArguments(llvm::ArrayRef<const char *> argv,
                    llvm::cl::SubCommand &command,
                    llvm::cl::OptionCategory &category,
                    llvm::StringRef moreHelp);

/// The part of a subcommand's help that shows what to type.
std::string formatExamples(llvm::ArrayRef<llvm::StringRef> examples);

/// Prints "pipewright: error: <message>"; returns \p code.
int refuse(const llvm::Twine &message, ExitCode code = refused);

/// Whether \p value is one of \p known; says what is known if not.
bool isKnown(llvm::StringRef option, llvm::StringRef value,
             llvm::ArrayRef<llvm::StringRef> known);

/// Whether \p option is at least 1 if it is given; says so if not.
bool isAtLeastOne(const llvm::cl::opt<int64_t> &option);

/// Whether \p option is at least 1 and at most \p most if it is given; says so
/// if not.
bool isCount(const llvm::cl::opt<int64_t> &option, int64_t most);

/// The number of bytes, above 0, that \p option gives; nothing, with a message,
/// if it gives none.
std::optional<int64_t> readBytes(const llvm::cl::opt<std::string> &option);

/// The number of bytes in `24GiB`, `512MiB`, `1000`.
std::optional<int64_t> parseBytes(llvm::StringRef text);

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_COMMANDLINE_H
