//===- Launcher.h - Starts programs on one or several ranks -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_LAUNCHER_H
#define PIPEWRIGHT_DRIVER_LAUNCHER_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pipewright {

/// Knows how to start so many ranks: under mpirun if there are several, on this
/// machine or on the hosts of a file of mpirun's. Its folder goes with it, so
/// it must live as long as they run.
class Launcher {
public:
  static llvm::Expected<Launcher> create(int64_t ranks,
                                         std::string hostfile = "");
  Launcher(Launcher &&other);
  ~Launcher();

  /// The words that start \p program, its path and arguments, on all ranks.
  std::vector<std::string> makeCommand(std::vector<std::string> program) const;

private:
  Launcher(int64_t ranks, std::string hostfile, std::string session)
      : ranks(ranks), hostfile(std::move(hostfile)),
        session(std::move(session)) {}

  int64_t ranks;
  std::string hostfile;
  /// Where OpenMPI keeps its files of one run. By default runs of one user
  /// share a folder that the last one removes, even while another is about to
  /// use it.
  std::string session;
};

/// Runs \p command, whose first word is looked for in PATH, and waits for it.
/// Returns its exit status, not 0 if it cannot be started; what it prints goes
/// to the files \p output and \p errors.
int runProgram(const std::vector<std::string> &command, llvm::StringRef output,
               llvm::StringRef errors);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_LAUNCHER_H
