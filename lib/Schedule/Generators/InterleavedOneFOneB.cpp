//===- InterleavedOneFOneB.cpp - The interleaved-1f1b schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Orders.h"

using namespace pipewright;

/// 1f1b on several chunks per rank, which shortens the time to fill the
/// pipeline: each rank runs a group of micro-batches on one chunk, then on the
/// next. Rank p of P starts with 2 (P - 1 - p) forwards beside those of the
/// group on all chunks but the last.
static llvm::Expected<Schedule>
buildInterleavedOneFOneB(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  llvm::Expected<std::vector<int64_t>> groups = getGroups(request);
  if (!groups)
    return groups.takeError();
  Schedule schedule(shape);
  for (int64_t rank = 0; rank < shape.ranks; ++rank)
    addAlternating(schedule, rank, listInterleaved(shape, rank, *groups),
                   /*warmup=*/2 * (shape.ranks - 1 - rank) +
                       (shape.chunks - 1) * groups->front() + 1);
  return schedule;
}

namespace pipewright {
void registerInterleavedOneFOneB(ScheduleRegistry &registry) {
  registry.add(
      {/*name=*/"interleaved-1f1b",
       /*summary=*/"1f1b on several chunks per rank, for a smaller bubble",
       /*source=*/"Narayanan et al., SC 2021, arXiv:2104.04473",
       buildInterleavedOneFOneB,
       /*chunks=*/2,
       /*hasGroups=*/true});
}
} // namespace pipewright
