//===- FormulaGrid.h - Simulated figures to compare with formulas -*- C++ -*-=//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_SCHEDULE_FORMULAGRID_H
#define PIPEWRIGHT_TEST_UNIT_SCHEDULE_FORMULAGRID_H

#include "pipewright/Schedule/ScheduleRegistry.h"
#include "pipewright/Schedule/Simulator.h"

#include <gtest/gtest.h>

namespace pipewright {

/// One point of a grid, with the names that formulas use: p ranks, m
/// micro-batches, the times F, B, W of ONE stage, L of a hop, v chunks per
/// rank, and the time of an overlapped pair.
struct Point {
  double p, m;
  double f = 1, b = 1, w = 1, l = 0;
  double v = 1;
  std::optional<double> pair = std::nullopt;
  bool recompute = false;

  double bw() const { return b + w; }
  /// The work of a rank on all micro-batches.
  double work() const { return m * v * (f + bw()); }
};

/// For messages of failed expectations.
std::ostream &operator<<(std::ostream &os, const Point &point);

/// What a simulation says of a schedule at a point.
struct Figures {
  double makespan;
  /// No order of the same placement is faster.
  double lowerBound;
  /// Makespan without the time in which the idlest rank works.
  double bubble;
  /// The most that a rank idles between its first start and its last end.
  double spanBubble;
  /// Per rank, in activations of one stage.
  std::vector<double> peaks;
  double copies;
  /// Sends of all ranks.
  double messages;

  double peak() const { return *std::max_element(peaks.begin(), peaks.end()); }
};

/// Fails the test if \p name refuses the point.
Schedule build(llvm::StringRef name, const Point &point);

/// The figures of \p name, after checking that it is valid, gives back all its
/// activations and is no faster than its work.
Figures simulate(llvm::StringRef name, const Point &point);

/// Times F, B, W in many ratios.
const std::vector<StageCost> &getRatios();

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_SCHEDULE_FORMULAGRID_H
