//===- OneFOneB.cpp - The 1f1b schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Orders.h"

using namespace pipewright;

/// Of P ranks, rank p runs P - p forwards to fill the pipeline and then
/// alternates one backward with one forward, so it never holds the activations
/// of more than P - p micro-batches, however many there are.
static llvm::Expected<Schedule> buildOneFOneB(const ScheduleRequest &request) {
  int64_t ranks = request.shape.ranks;
  return buildAlternating(request, [&](int64_t rank) {
    return Alternation{/*warmup=*/ranks - rank};
  });
}

namespace pipewright {
void registerOneFOneB(ScheduleRegistry &registry) {
  registry.add({/*name=*/"1f1b",
                /*summary=*/"alternate one forward and one backward",
                /*source=*/"Narayanan et al., SC 2021, arXiv:2104.04473",
                buildOneFOneB});
}
} // namespace pipewright
