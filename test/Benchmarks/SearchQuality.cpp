//===- SearchQuality.cpp - What `auto` finds, and how long it takes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SearchQuality
//
// One line per row of the zero-bubble paper's table (Qi et al., ICLR 2024,
// arXiv:2401.10241): the bubble rate of ZB-2p there and of `auto` here, in the
// span of a rank, and seconds on one core. Exits with 1 if a rate is worse.
//
//===----------------------------------------------------------------------===//

#include "../ZeroBubbleTable.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>

using namespace llvm;
using namespace pipewright;

/// Prints a line for \p row; returns false if its rate is not reached.
static bool report(const ZeroBubbleRow &row) {
  ScheduleRequest request = row.getRequest();
  auto start = std::chrono::steady_clock::now();
  Schedule schedule = cantFail(buildSchedule("auto", request));
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  CostModel costs = cantFail(makeCosts(schedule, request.costs));
  Metrics metrics = measure(schedule, simulate(schedule, costs));
  double rate = metrics.getSpanBubbleRatio();
  // The table has four digits.
  bool isReached = rate <= row.zb2p + 0.00005;
  outs() << format("%3lld ranks %4lld micro-batches  ZB-2p %.4f  auto %.4f  "
                   "%5.1f activations  %6.2f s%s\n",
                   (long long)row.ranks, (long long)row.microbatches, row.zb2p,
                   rate,
                   *std::max_element(metrics.peakActivations.begin(),
                                     metrics.peakActivations.end()),
                   seconds.count(), isReached ? "" : "  worse");
  return isReached;
}

int main() {
  bool isReached = true;
  for (const ZeroBubbleRow &row : zeroBubbleTable)
    isReached &= report(row);
  return isReached ? 0 : 1;
}
