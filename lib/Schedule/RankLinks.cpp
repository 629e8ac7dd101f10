//===- RankLinks.cpp - The links between ranks
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/RankLinks.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipewright;

RankLink RankLinks::get(int64_t from, int64_t to) const {
  const LinkClass &link = topology.getLink(devices[from], devices[to]);
  return {link.latencySeconds / secondsPerUnit,
          link.bytesPerSecond * secondsPerUnit,
          topology.getWays(devices[from], devices[to])};
}

bool RankLinks::areShared() const {
  return any_of(topology.getLinks(), [](const LinkClass &link) {
    return link.sharing != LinkSharing::Pair;
  });
}
