//===- Replicas.h - Several pipelines train one model -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each pipeline has its part of a step's micro-batches and the whole model. A
// rank's replicas are the ranks of the other pipelines with its executable.
//
// Consecutive replicas can be a group, of which each has other experts of the
// model: its shards of their parameters, which replicas at the same place of
// other groups have too. Rows move to where their experts are.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_REPLICAS_H
#define PPRT_CORE_REPLICAS_H

#include "launch/Transport.h"
#include "pprt/Descriptor.h"

#include <memory>

struct PprtContext;

namespace pprt {

/// The ranks around one, of all processes.
class RankGroups {
public:
  RankGroups(const PprtDescriptor &descriptor, Transport &all);

  /// Number of the rank's pipeline.
  uint32_t getReplica() const { return replica; }
  uint32_t getReplicas() const { return count; }
  /// Among all processes, rank \p rank of this pipeline, and this one of
  /// pipeline \p other.
  uint32_t getPeer(uint32_t rank) const { return replica * ranks + rank; }
  uint32_t getTwin(uint32_t other) const { return other * ranks + self; }

  uint32_t getGroupSize() const { return groupSize; }
  uint32_t getGroup() const { return replica / groupSize; }
  /// Number of the rank's pipeline in its group.
  uint32_t getPlace() const { return replica % groupSize; }
  /// Among all processes, this rank of the group's pipeline at \p place.
  uint32_t getMember(uint32_t place) const {
    return getTwin(getGroup() * groupSize + place);
  }
  /// That of group \p other at this pipeline's place.
  uint32_t getSharer(uint32_t other) const {
    return getTwin(other * groupSize + getPlace());
  }

  Transport &all;
  std::unique_ptr<Transport> pipeline; ///< numbered as in the descriptor
  std::unique_ptr<Transport> twins;    ///< numbered as pipelines are
  std::unique_ptr<Transport> group;    ///< all ranks of the group's pipelines
  std::unique_ptr<Transport> members;  ///< twins of the group, by place
  std::unique_ptr<Transport> sharers;  ///< twins at the same place, by group

private:
  uint32_t self, ranks, count, groupSize, replica;
};

/// Whether the groups of replicas that the program was built for can be, and
/// its parameters shared out over them. Fails on all ranks if on one.
Status checkGroups(const PprtDescriptor &descriptor, Transport &all);

/// Adds the gradient of parameter \p index over all replicas, or that of a
/// shard over those that have it.
void reduceGradient(PprtContext &context, uint32_t index);

/// Waits for all sums that pprtAllReduce began.
void finishReductions(PprtContext &context);

/// The losses of the micro-batches of all pipelines on the rank that owns the
/// loss, in their order.
void joinReplicaLosses(PprtContext &context);

/// Has the outputs of all pipelines written by the first one.
void joinReplicaOutputs(PprtContext &context);

} // namespace pprt

#endif // PPRT_CORE_REPLICAS_H
