//===- pipewright.cpp - The program that users call
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

namespace {
struct Command {
  StringRef name;
  cl::SubCommand &(*getSubCommand)();
  int (*run)();
  /// What `--help` says after the options.
  std::string (*getMoreHelp)();
};
} // namespace

static constexpr Command commands[] = {
    {"schedule", getScheduleCommand, runSchedule, getScheduleHelp},
};

static const Command *findCommand(int argc, char **argv) {
  if (argc < 2)
    return nullptr;
  const auto *found = find_if(commands, [&](const Command &command) {
    return command.name == argv[1];
  });
  return found == std::end(commands) ? nullptr : found;
}

/// LLVM's libraries bring options of their own, which are not for users.
static void hideForeignOptions() {
  cl::HideUnrelatedOptions(getCommandOptions());
  for (const Command &command : commands)
    cl::HideUnrelatedOptions(getCommandOptions(), command.getSubCommand());
}

static void printVersion(raw_ostream &os) {
  os << "pipewright " << PIPEWRIGHT_VERSION << '\n';
}

int main(int argc, char **argv) {
  hideForeignOptions();
  cl::SetVersionPrinter(printVersion);
  const Command *command = findCommand(argc, argv);
  std::string moreHelp = command ? command->getMoreHelp() : "";
  cl::extrahelp help(moreHelp);
  if (!cl::ParseCommandLineOptions(
          argc, argv, "Compiles ONNX models for pipeline-parallel training\n",
          &errs()))
    return wrongCommandLine;
  if (command)
    return command->run();
  errs() << "pipewright: error: expected a subcommand; see 'pipewright "
            "--help'\n";
  return wrongCommandLine;
}
