//===- Subcommands.h - One function per subcommand -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_SUBCOMMANDS_H
#define PIPEWRIGHT_TOOLS_SUBCOMMANDS_H

namespace pipewright {

/// Each takes the arguments from its own name on and returns the exit status:
/// 0 done, 1 refused, 2 wrong command line.
int runBuild(int argc, char **argv);
int runCompletion(int argc, char **argv);
int runInspect(int argc, char **argv);
int runPlan(int argc, char **argv);
int runProfile(int argc, char **argv);
int runRun(int argc, char **argv);
int runSchedule(int argc, char **argv);
int runScheduleCompare(int argc, char **argv);
int runWhatIf(int argc, char **argv);

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_SUBCOMMANDS_H
