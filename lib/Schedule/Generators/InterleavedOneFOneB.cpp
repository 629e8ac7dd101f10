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
  int64_t ranks = request.shape.ranks;
  return buildInterleaved(request, [&](int64_t rank) {
    return Alternation{/*warmup=*/2 * (ranks - 1 - rank) + 1};
  });
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
