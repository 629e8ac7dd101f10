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
  int64_t ranks = request.shape.ranks;
  return buildInterleaved(request, [&](int64_t rank) {
    return Alternation{/*warmup=*/ranks - rank, /*weightDelay=*/rank};
  });
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
