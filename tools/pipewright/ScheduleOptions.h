//===- ScheduleOptions.h - What schedules are asked for ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_SCHEDULEOPTIONS_H
#define PIPEWRIGHT_TOOLS_SCHEDULEOPTIONS_H

#include "pipewright/Schedule/Formats.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include "llvm/Support/CommandLine.h"

namespace pipewright {

/// The options of all subcommands that build and time schedules.
struct ScheduleOptions {
  ScheduleOptions(llvm::cl::SubCommand &command,
                  llvm::cl::OptionCategory &category);

  /// What is asked of generators, but for the costs.
  ScheduleRequest makeRequest() const;

  llvm::cl::opt<int64_t> ranks, microbatches, chunks, groupSize;
  llvm::cl::opt<bool> recompute;
  llvm::cl::list<std::string> cost;
  llvm::cl::opt<std::string> stageCost;
  llvm::cl::opt<std::string> layout;
  llvm::cl::list<std::string> layerCost;
  llvm::cl::opt<double> memoryLimit;
  llvm::cl::opt<CsvLetters> csvLetters;
  llvm::cl::opt<Objective> objective;
  llvm::cl::opt<int64_t> parameterCopies;
  llvm::cl::opt<bool> json;
  llvm::cl::opt<std::string> output;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_SCHEDULEOPTIONS_H
