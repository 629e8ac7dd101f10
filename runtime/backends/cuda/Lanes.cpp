//===- Lanes.cpp - What a device does beside computing --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

using namespace pprt;
using namespace pprt::cuda;

Lane cuda::getLane(const PprtDescriptor &descriptor, uint32_t index) {
  const PprtChannel &channel = descriptor.channels[index];
  bool isUp = channel.source < channel.target;
  if (channel.kind == PPRT_ACTIVATION)
    return isUp ? ActivationsUp : ActivationsDown;
  return isUp ? GradientsUp : GradientsDown;
}

/// Are gradients of \p parameter added up over several ranks?
static bool isShared(const PprtDescriptor &descriptor,
                     const PprtParameter &parameter) {
  bool shared = parameter.owner != descriptor.rank;
  for (uint32_t i = 0; i < parameter.contributionCount; ++i)
    shared |= parameter.contributions[i].rank != descriptor.rank;
  return shared && parameter.trainable && parameter.contributionCount > 1;
}

static void findSums(const PprtDescriptor &descriptor,
                     const PprtParameter &parameter,
                     std::array<bool, laneCount> &found) {
  if (isShared(descriptor, parameter))
    found[TiedGradients] = true;
  if (!parameter.trainable || descriptor.forwardOnly)
    return;
  bool isShard = parameter.shards > 1;
  if (descriptor.dataParallel > (isShard ? parameter.shards : 1))
    found[isShard ? ShardGradients : ReplicaGradients] = true;
}

std::array<bool, laneCount> cuda::findLanes(const PprtDescriptor &descriptor) {
  std::array<bool, laneCount> found = {};
  for (uint32_t i = 0; i < descriptor.channelCount; ++i)
    if (descriptor.channels[i].source != descriptor.channels[i].target)
      found[getLane(descriptor, i)] = true;
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i)
    findSums(descriptor, descriptor.parameters[i], found);
  found[Exchanges] = descriptor.exchangeCount > 0;
  return found;
}
