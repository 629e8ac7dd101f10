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

#include "pipewright/Schedule/ScheduleRegistry.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>

using namespace llvm;
using namespace pipewright;

namespace {
struct Row {
  int64_t ranks, microbatches;
  /// In milliseconds.
  StageCost cost;
  double latency;
  double rate;
};
} // namespace

static const Row rows[] = {{8, 24, {18.522, 18.086, 9.337}, .601, .0433},
                           {8, 32, {18.513, 18.086, 9.331}, .626, .0039},
                           {8, 64, {18.546, 18.097, 9.321}, .762, .0026},
                           {8, 24, {29.718, 29.444, 19.927}, .527, .0029},
                           {8, 32, {29.802, 29.428, 19.530}, .577, .0022},
                           {8, 64, {29.935, 29.621, 19.388}, .535, .0010},
                           {16, 48, {11.347, 11.248, 8.132}, .377, .0066},
                           {16, 64, {11.307, 11.254, 8.101}, .379, .0054},
                           {16, 128, {11.325, 11.308, 8.109}, .378, .0028},
                           {32, 96, {10.419, 10.207, 7.715}, .408, .0038},
                           {32, 128, {10.408, 10.204, 7.703}, .408, .0029},
                           {32, 256, {10.402, 10.248, 7.698}, .460, .0018}};

/// Prints a line for \p row; returns false if its rate is not reached.
static bool report(const Row &row) {
  ScheduleRequest request(row.ranks, row.microbatches, /*chunks=*/1);
  request.costs.share = row.cost;
  request.costs.latency = row.latency;
  request.objective = Objective::Span;
  auto start = std::chrono::steady_clock::now();
  Schedule schedule = cantFail(buildSchedule("auto", request));
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  CostModel costs = cantFail(makeCosts(schedule, request.costs));
  Metrics metrics = measure(schedule, simulate(schedule, costs));
  double rate = metrics.getSpanBubbleRatio();
  // The table has four digits.
  bool isReached = rate <= row.rate + 0.00005;
  outs() << format("%3lld ranks %4lld micro-batches  ZB-2p %.4f  auto %.4f  "
                   "%5.1f activations  %6.2f s%s\n",
                   (long long)row.ranks, (long long)row.microbatches, row.rate,
                   rate,
                   *std::max_element(metrics.peakActivations.begin(),
                                     metrics.peakActivations.end()),
                   seconds.count(), isReached ? "" : "  worse");
  return isReached;
}

int main() {
  bool isReached = true;
  for (const Row &row : rows)
    isReached &= report(row);
  return isReached ? 0 : 1;
}
