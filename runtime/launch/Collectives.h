//===- Collectives.h - What all ranks do together ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_LAUNCH_COLLECTIVES_H
#define PPRT_LAUNCH_COLLECTIVES_H

#include "Transport.h"

#include <string>
#include <vector>

namespace pprt {

/// Tags of messages that are not a channel's.
enum Tag : uint32_t {
  CollectiveTag = 0,
  TiedGradientTag = 1,
  ParameterTag = 2,
  ReplicaTag = 3,
  FirstChannelTag = 16
};

/// Rank 0 receives \p bytes from each rank, in the order of ranks, into
/// \p all; others may pass null.
void gather(Transport &transport, const void *mine, uint64_t bytes, void *all);

/// All ranks get rank \p root's \p data.
void broadcast(Transport &transport, void *data, uint64_t bytes,
               uint32_t root = 0);

/// Rank 0 returns the text of each rank, others nothing.
std::vector<std::string> gatherText(Transport &transport,
                                    const std::string &mine);

void broadcastText(Transport &transport, std::string &text);

/// Returns when all ranks have called it.
void barrier(Transport &transport);

/// Fails on all ranks if \p mine fails on one. The first that failed keeps its
/// message; the others get none, so that a problem is told once.
Status agree(Transport &transport, Status mine);

} // namespace pprt

#endif // PPRT_LAUNCH_COLLECTIVES_H
