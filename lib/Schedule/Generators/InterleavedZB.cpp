//===- InterleavedZB.cpp - The interleaved-zb schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Orders.h"

using namespace pipewright;

/// zb-h1 on several chunks per rank, in the order of interleaved-1f1b: rank p
/// runs the gradient for the weights p units later, where it would wait
/// otherwise, so it holds no more units than P on each chunk.
static llvm::Expected<Schedule>
buildInterleavedZB(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  llvm::Expected<std::vector<int64_t>> groups = getGroups(request);
  if (!groups)
    return groups.takeError();
  Schedule schedule(shape);
  for (int64_t rank = 0; rank < shape.ranks; ++rank)
    addAlternating(schedule, rank, listInterleaved(shape, rank, *groups),
                   /*warmup=*/shape.ranks - rank +
                       (shape.chunks - 1) * groups->front(),
                   /*weightDelay=*/rank);
  return schedule;
}

namespace pipewright {
void registerInterleavedZB(ScheduleRegistry &registry) {
  registry.add(
      {/*name=*/"interleaved-zb",
       /*summary=*/"zb-h1 on several chunks per rank, for a smaller bubble",
       /*source=*/"Qi et al., ICLR 2024, arXiv:2401.10241", buildInterleavedZB,
       /*chunks=*/2,
       /*hasGroups=*/true});
}
} // namespace pipewright
