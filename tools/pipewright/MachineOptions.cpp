//===- MachineOptions.cpp - What disturbs a schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineOptions.h"

#include "pipewright/Cost/Profile.h"

using namespace llvm;
using namespace pipewright;

MachineOptions::MachineOptions(cl::SubCommand &command,
                               cl::OptionCategory &category)
    : straggler("straggler", cl::CommaSeparated, cl::value_desc("RANK=FACTOR"),
                cl::desc("Ranks whose actions take FACTOR times as long"),
                cl::sub(command), cl::cat(category)),
      jitter("jitter", cl::value_desc("X"), cl::init(0),
             cl::desc("Also tell how the makespan varies if each action takes "
                      "up to X times its time more or less"),
             cl::sub(command), cl::cat(category)),
      seeds("seeds", cl::value_desc("N"), cl::init(100),
            cl::desc("Runs with --jitter (default 100)"), cl::sub(command),
            cl::cat(category)),
      profile("profile", cl::value_desc("FILE"),
              cl::desc("Take comm and bandwidth of --cost, in seconds, from "
                       "the links that 'pipewright profile' measured, where "
                       "they are not given"),
              cl::sub(command), cl::cat(category)) {}

Error MachineOptions::check() const {
  if (!(jitter >= 0 && jitter < 1))
    return createStringError("--jitter must be at least 0 and below 1");
  if (seeds < 1 || seeds > 1000000)
    return createStringError("--seeds must be from 1 to 1000000");
  return Error::success();
}

Error MachineOptions::addLinks(ShareCosts &costs) const {
  if (profile.empty())
    return Error::success();
  Expected<Profile> measured = readProfile(profile);
  if (!measured)
    return measured.takeError();
  if (measured->links.empty())
    return createStringError("'" + profile + "' has no links");
  const MeasuredLink &link = measured->links.front();
  costs.latency = link.latencySeconds;
  costs.machine.bandwidth = link.bytesPerSecond;
  return Error::success();
}

Error MachineOptions::addStragglers(int64_t ranks,
                                    MachineModel &machine) const {
  for (StringRef entry : straggler) {
    auto [rankText, factorText] = entry.split('=');
    int64_t rank;
    double factor;
    if (rankText.getAsInteger(10, rank) || rank < 0 || rank >= ranks ||
        factorText.getAsDouble(factor) || !(factor > 0 && factor < 1e6))
      return createStringError("--straggler does not know '" + entry +
                               "'; expected a rank from 0 to " +
                               Twine(ranks - 1) +
                               ", '=', and a factor above "
                               "0");
    machine.rankFactors.resize(ranks, 1);
    machine.rankFactors[rank] *= factor;
  }
  return Error::success();
}

Timeline MachineOptions::simulate(const Schedule &schedule, CostModel costs,
                                  Metrics &metrics, bool withMessages) const {
  Timeline timeline = pipewright::simulate(schedule, costs, withMessages);
  metrics = measure(schedule, timeline);
  metrics.peakBytes = getPeakBytes(schedule, costs);
  costs.machine.jitter = jitter;
  if (jitter > 0)
    metrics.spread = simulateSpread(schedule, costs, seeds);
  return timeline;
}
