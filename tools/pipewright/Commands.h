//===- Commands.h - The subcommands of pipewright ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file per subcommand defines its cl::SubCommand and options, what runs it
// once the command line is parsed, and an example for its help.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_COMMANDS_H
#define PIPEWRIGHT_TOOLS_COMMANDS_H

#include "llvm/Support/CommandLine.h"

#include <string>

namespace pipewright {

/// Exit codes of all our tools.
enum ExitCode : int { done = 0, refused = 1, wrongCommandLine = 2 };

/// The category of all our options; those of others are hidden.
llvm::cl::OptionCategory &getCommandOptions();

/// Prints "pipewright: error: <message>" and returns \p code.
int fail(const llvm::Twine &message, ExitCode code = refused);

llvm::cl::SubCommand &getScheduleCommand();
int runSchedule();
std::string getScheduleHelp();

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_COMMANDS_H
