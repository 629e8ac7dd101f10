//===- EagerOneFOneB.cpp - The eager-1f1b schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Orders.h"

using namespace pipewright;

/// As 1f1b, but rank p of P starts with 2 (P - p) - 1 forwards: activations
/// arrive before they are needed, which hides the time of messages and costs
/// nearly twice the memory.
static llvm::Expected<Schedule>
buildEagerOneFOneB(const ScheduleRequest &request) {
  int64_t ranks = request.shape.ranks;
  return buildAlternating(request, [&](int64_t rank) {
    return Alternation{/*warmup=*/2 * (ranks - rank) - 1};
  });
}

namespace pipewright {
void registerEagerOneFOneB(ScheduleRegistry &registry) {
  registry.add({/*name=*/"eager-1f1b",
                /*summary=*/"1f1b with more forwards ahead, to hide messages",
                /*source=*/"Zhuang et al., MLSys 2023, arXiv:2211.05322",
                buildEagerOneFOneB});
}
} // namespace pipewright
