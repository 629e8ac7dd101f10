//===- ZBH1.cpp - The zb-h1 schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Orders.h"

using namespace pipewright;

/// The order of 1f1b with the gradient for the inputs alone where that has the
/// full backward, so gradients reach the previous rank sooner. Rank p runs the
/// gradient for the weights p micro-batches later, where it would wait
/// otherwise; no rank holds more than P micro-batches.
static llvm::Expected<Schedule> buildZBH1(const ScheduleRequest &request) {
  int64_t ranks = request.shape.ranks;
  return buildAlternating(request, [&](int64_t rank) {
    return Alternation{/*warmup=*/ranks - rank, /*weightDelay=*/rank};
  });
}

namespace pipewright {
void registerZBH1(ScheduleRegistry &registry) {
  registry.add({/*name=*/"zb-h1",
                /*summary=*/"1f1b with weight gradients moved into its bubble",
                /*source=*/"Qi et al., ICLR 2024, arXiv:2401.10241",
                buildZBH1});
}
} // namespace pipewright
