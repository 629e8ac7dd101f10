//===- pipewright.cpp - The program that users call
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Subcommands.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

namespace {
struct Subcommand {
  StringLiteral name;
  StringLiteral summary;
  int (*run)(int argc, char **argv);
};
} // namespace

static constexpr Subcommand subcommands[] = {
    {"inspect", "show the layers of a model and what they cost", runInspect},
    {"schedule", "explore schedules without a model", runSchedule},
    {"plan", "search the split and schedule that train a model fastest",
     runPlan},
    {"profile", "measure the layers of a model on this machine", runProfile},
    {"build", "compile a model into one executable per rank", runBuild},
    {"run", "train or evaluate a build on this machine", runRun},
    {"whatif", "predict how a plan fares on another machine", runWhatIf},
    {"completion", "print the completion script of a shell", runCompletion},
};

static void printHelp(raw_ostream &os) {
  os << "OVERVIEW: compiles ONNX models for pipeline-parallel training\n\n"
        "USAGE: pipewright SUBCOMMAND [options]\n\nSUBCOMMANDS:\n\n";
  for (const Subcommand &subcommand : subcommands)
    os << format("  %-12s %s\n", subcommand.name.data(),
                 subcommand.summary.data());
  os << "\n'pipewright SUBCOMMAND --help' tells more; --version prints the "
        "version\n";
}

int main(int argc, char **argv) {
  // Files must not take the place of a standard stream that is closed.
  sys::Process::FixupStandardFileDescriptors();
  StringRef name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-h") {
    printHelp(outs());
    return 0;
  }
  if (name == "--version") {
    outs() << "pipewright " << PIPEWRIGHT_VERSION << '\n';
    return 0;
  }
  for (const Subcommand &subcommand : subcommands)
    if (subcommand.name == name)
      return subcommand.run(argc - 1, argv + 1);
  errs() << "pipewright: error: ";
  if (name.empty())
    errs() << "expected a subcommand";
  else
    errs() << "unknown subcommand '" << name << "'";
  errs() << "; see 'pipewright --help'\n";
  return 2;
}
