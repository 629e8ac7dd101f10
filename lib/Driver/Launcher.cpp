//===- Launcher.cpp - Starts programs on one or several ranks
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/Launcher.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace llvm;
using namespace pipewright;

Expected<Launcher> Launcher::create(int64_t ranks, std::string hostfile) {
  SmallString<128> session;
  if (std::error_code error =
          sys::fs::createUniqueDirectory("pipewright-run", session))
    return createStringError(error, "cannot make a temporary folder: " +
                                        error.message());
  return Launcher(ranks, std::move(hostfile), session.str().str());
}

Launcher::Launcher(Launcher &&other)
    : ranks(other.ranks), hostfile(std::move(other.hostfile)),
      session(std::move(other.session)) {
  other.session.clear();
}

Launcher::~Launcher() {
  if (!session.empty())
    sys::fs::remove_directories(session);
}

std::vector<std::string>
Launcher::makeCommand(std::vector<std::string> program) const {
  std::vector<std::string> command;
  if (ranks > 1) {
    command = {"mpirun",           "-quiet",    "-n",   std::to_string(ranks),
               "--oversubscribe",  "--bind-to", "none", "--mca",
               "orte_tmpdir_base", session};
    if (!hostfile.empty())
      command.insert(command.end(), {"--hostfile", hostfile});
    if (geteuid() == 0)
      command.push_back("--allow-run-as-root");
  }
  append_range(command, program);
  return command;
}

int pipewright::runProgram(const std::vector<std::string> &command,
                           StringRef output, StringRef errors) {
  auto explain = [&](StringRef reason) {
    std::error_code error;
    raw_fd_ostream(errors, error)
        << "cannot start '" << command.front() << "': " << reason;
    return 1;
  };
  ErrorOr<std::string> path = sys::findProgramByName(command.front());
  if (!path)
    return explain(path.getError().message());
  // A file that exists would keep what lies beyond the new text.
  sys::fs::remove(output);
  sys::fs::remove(errors);
  SmallVector<StringRef> words(command.begin(), command.end());
  std::string message;
  int status = sys::ExecuteAndWait(*path, words, /*Env=*/std::nullopt,
                                   /*Redirects=*/{std::nullopt, output, errors},
                                   /*SecondsToWait=*/0,
                                   /*MemoryLimit=*/0, &message);
  return message.empty() ? status : explain(message);
}
