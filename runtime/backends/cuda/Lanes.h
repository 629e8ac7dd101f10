//===- Lanes.h - What a device does beside computing ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages of one lane follow each other: it has a stream and a communicator.
// Those of different lanes do not wait for each other.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_LANES_H
#define PPRT_BACKENDS_CUDA_LANES_H

#include "core/Device.h"

#include <array>
#include <cuda_runtime_api.h>

namespace pprt::cuda {

/// In the order in which all ranks make their communicators. Most schedules
/// use two of the first four; those in which micro-batches enter from both ends
/// or come back use all.
enum Lane : uint32_t {
  ActivationsUp, ///< to ranks with a higher number
  ActivationsDown,
  GradientsUp,
  GradientsDown,
  TiedGradients,
  ReplicaGradients, ///< their sums over pipelines
  ShardGradients,   ///< those of experts, over pipelines that have the same
  Exchanges,        ///< of rows, between pipelines that have other experts
  laneCount
};

/// Whether its messages are between replicas of one rank, not between ranks of
/// one pipeline: all of a group have such a lane, or none has.
inline bool isOfReplicas(Lane lane) {
  return lane == ReplicaGradients || lane == ShardGradients ||
         lane == Exchanges;
}

Lane getLane(const PprtDescriptor &descriptor, uint32_t channel);

inline Lane getLane(const PprtDescriptor &descriptor,
                    const DeviceMessage &message) {
  if (message.activity == Activity::ReplicaGradient)
    return ReplicaGradients;
  if (message.activity == Activity::ShardGradient)
    return ShardGradients;
  if (message.activity == Activity::SendRows ||
      message.activity == Activity::RecvRows)
    return Exchanges;
  return message.channel == DeviceMessage::noChannel
             ? TiedGradients
             : getLane(descriptor, message.channel);
}

/// The lanes on which this rank has messages.
std::array<bool, laneCount> findLanes(const PprtDescriptor &descriptor);

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_LANES_H
