//===- Replicas.h - Several pipelines train one model -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each pipeline has its part of a step's micro-batches and the whole model. A
// rank's replicas are the ranks of the other pipelines with its executable.
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

  Transport &all;
  std::unique_ptr<Transport> pipeline; ///< numbered as in the descriptor
  std::unique_ptr<Transport> twins;    ///< numbered as pipelines are

private:
  uint32_t self, ranks, count, replica;
};

/// Adds the gradient of parameter \p index over all replicas.
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
