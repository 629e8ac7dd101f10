//===- ZBH2.cpp - The zb-h2 schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Orders.h"

using namespace pipewright;

/// As zb-h1, but with enough forwards ahead that no rank waits between its
/// first and its last action: rank p of P starts with 2 (P - p) - 1 of them and
/// runs the gradient for the weights 2 p micro-batches later. That holds
/// nearly twice the activations.
static llvm::Expected<Schedule> buildZBH2(const ScheduleRequest &request) {
  int64_t ranks = request.shape.ranks;
  return buildAlternating(request, [&](int64_t rank) {
    return Alternation{/*warmup=*/2 * (ranks - rank) - 1,
                       /*weightDelay=*/2 * rank};
  });
}

namespace pipewright {
void registerZBH2(ScheduleRegistry &registry) {
  registry.add({/*name=*/"zb-h2",
                /*summary=*/
                "zb-h1 with more forwards ahead: no bubble between first and "
                "last action",
                /*source=*/"Qi et al., ICLR 2024, arXiv:2401.10241",
                buildZBH2});
}
} // namespace pipewright
