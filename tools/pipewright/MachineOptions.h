//===- MachineOptions.h - What disturbs a schedule --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_MACHINEOPTIONS_H
#define PIPEWRIGHT_TOOLS_MACHINEOPTIONS_H

#include "pipewright/Schedule/Simulator.h"

#include "llvm/Support/CommandLine.h"

namespace pipewright {

/// The options on the machine that a schedule is timed for.
struct MachineOptions {
  MachineOptions(llvm::cl::SubCommand &command,
                 llvm::cl::OptionCategory &category);

  /// Refuses what no machine can be.
  llvm::Error check() const;
  /// Has messages take as long as the profile says, if one is given.
  llvm::Error addLinks(ShareCosts &costs) const;
  /// Refuses \p costs that tell how long messages take as a topology does.
  llvm::Error checkLinks(const ShareCosts &costs) const;
  /// Has messages take the links of a topology, if one is given, with the
  /// ranks in the best order for the stages of \p schedule, and says so on
  /// stderr if it \p tells.
  llvm::Error addTopology(const Schedule &schedule, CostModel &costs,
                          bool tells) const;
  /// The same for a schedule that is still to be found, as if each rank had one
  /// stage. The shape is one that there can be.
  llvm::Error addTopology(const ScheduleShape &shape, ShareCosts &costs) const;
  /// Adds the slow ones of so many ranks.
  llvm::Error addStragglers(int64_t ranks, MachineModel &machine) const;
  /// Times \p schedule, and what the actions' jitter makes of its makespan.
  Timeline simulate(const Schedule &schedule, CostModel costs, Metrics &metrics,
                    bool withMessages) const;

  llvm::cl::list<std::string> straggler;
  llvm::cl::opt<double> jitter;
  llvm::cl::opt<int64_t> seeds;
  llvm::cl::opt<std::string> profile, topology;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_MACHINEOPTIONS_H
