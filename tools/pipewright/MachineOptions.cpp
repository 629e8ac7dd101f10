//===- MachineOptions.cpp - What disturbs a schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineOptions.h"

#include "pipewright/Cost/Profile.h"
#include "pipewright/Package/PredictedStep.h"

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
              cl::sub(command), cl::cat(category)),
      topology("topology", cl::value_desc("NAME|FILE"),
               cl::desc("Have messages take the links between a machine's "
                        "devices, which the ranks are put on in the best "
                        "order; --cost is in seconds then. cpu, dgx-a100, "
                        "dgx-h100, or a .json or .toml file"),
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
  const MeasuredLink *link = measured->getTypicalLink();
  if (!link)
    return createStringError("'" + profile + "' has no links");
  costs.latency = link->latencySeconds;
  costs.machine.bandwidth = link->bytesPerSecond;
  return Error::success();
}

Error MachineOptions::addTopology(const Schedule &schedule, CostModel &costs,
                                  bool tells) const {
  if (topology.empty())
    return Error::success();
  Expected<Topology> loaded = loadTopology(topology);
  if (!loaded)
    return createStringError("--topology: " + toString(loaded.takeError()));
  PlacementTarget target{std::move(*loaded)};
  Expected<RankPlacement> placement = placeRanks(target, schedule, costs);
  if (!placement)
    return placement.takeError();
  addPlacement(target, *placement, costs.latency, costs.machine);
  if (tells)
    printPlacement(summarizePlacement(target, *placement, topology), errs());
  return Error::success();
}

Error MachineOptions::checkLinks(const ShareCosts &costs) const {
  if (topology.empty() || (costs.latency == 0 && costs.machine.bandwidth == 0))
    return Error::success();
  return createStringError("--topology tells how long messages take; leave out "
                           "--profile, and comm and bandwidth of --cost");
}

Error MachineOptions::addTopology(const ScheduleShape &shape,
                                  ShareCosts &costs) const {
  Schedule line({shape.ranks, shape.microbatches, /*chunks=*/1});
  CostModel model = makeUniformCosts(line, costs.share, costs.latency);
  model.machine = costs.machine;
  if (Error error = addTopology(line, model, /*tells=*/false))
    return error;
  costs.machine = model.machine;
  costs.latency = model.latency;
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
