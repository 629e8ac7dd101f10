//===- CostOptions.cpp - What layers are priced by
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostOptions.h"

#include "pipewright/Cost/Device.h"
#include "pipewright/Cost/LayerTimes.h"
#include "pipewright/Cost/Profile.h"
#include "pipewright/Cost/Topology.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace pipewright;

/// Lives as long as the option, which does not copy it.
static StringRef describeDevices() {
  static const std::string text =
      "The device that layers are priced on: " + join(getDeviceNames(), ", ") +
      ", or a .json or .toml file that describes one (default cpu)";
  return text;
}

CostOptions::CostOptions(cl::SubCommand &command, cl::OptionCategory &category)
    : device("device", cl::value_desc("NAME|FILE"), cl::init("cpu"),
             cl::desc(describeDevices()), cl::sub(command), cl::cat(category)),
      profile("profile", cl::value_desc("FILE"),
              cl::desc("Times that 'pipewright profile' measured, in place of "
                       "those by formula"),
              cl::sub(command), cl::cat(category)),
      layerTimes("layer-times", cl::value_desc("FILE"),
                 cl::desc("Times of layers that come before all others, in a "
                          ".json or .toml file"),
                 cl::sub(command), cl::cat(category)) {}

bool CostOptions::apply(BuildOptions &options) const {
  // A model may take long to read: refuse first.
  Expected<Device> loaded = loadDevice(device);
  if (!loaded) {
    refuse("--device: " + toString(loaded.takeError()));
    return false;
  }
  options.device = device;
  options.layerTimes = layerTimes;
  if (!layerTimes.empty())
    if (Error error = readLayerTimes(layerTimes).takeError()) {
      refuse("--layer-times: " + toString(std::move(error)));
      return false;
    }
  if (profile.empty())
    return true;
  Expected<Profile> measured = readProfile(profile);
  if (!measured) {
    refuse("--profile: " + toString(measured.takeError()));
    return false;
  }
  options.profile = profile;
  // What was measured are the gradients of a loss.
  if (options.loss.empty())
    options.loss = measured->loss;
  return true;
}

static StringRef describeTopologies() {
  static const std::string text =
      "The machine that ranks run on, its devices and links: " +
      join(getTopologyNames(), ", ") +
      ", or a .json or .toml file that describes one";
  return text;
}

TopologyOption::TopologyOption(cl::SubCommand &command,
                               cl::OptionCategory &category)
    : topology("topology", cl::value_desc("NAME|FILE"),
               cl::desc(describeTopologies()), cl::sub(command),
               cl::cat(category)) {}

bool TopologyOption::apply(const CostOptions &costs,
                           BuildOptions &options) const {
  if (topology.empty())
    return true;
  Expected<Topology> loaded = loadTopology(topology);
  if (!loaded) {
    refuse("--topology: " + toString(loaded.takeError()));
    return false;
  }
  options.topology = topology;
  if (!costs.hasDevice())
    options.device = loaded->getOrigin(loaded->getPlace(0).kind).str();
  return true;
}
