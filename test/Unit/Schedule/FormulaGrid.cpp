//===- FormulaGrid.cpp - Simulated figures to compare with formulas
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormulaGrid.h"

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;
using namespace pipewright;

std::ostream &pipewright::operator<<(std::ostream &os, const Point &point) {
  os << point.p << " ranks, " << point.m << " micro-batches, " << point.v
     << " chunks, F " << point.f << ", B " << point.b << ", W " << point.w
     << ", L " << point.l;
  if (point.pair)
    os << ", pair " << *point.pair;
  return os;
}

Schedule pipewright::build(StringRef name, const Point &point) {
  ScheduleShape shape = {static_cast<int64_t>(point.p),
                         static_cast<int64_t>(point.m),
                         static_cast<int64_t>(point.v)};
  ScheduleRequest request(shape);
  request.recompute = point.recompute;
  Expected<Schedule> schedule = buildSchedule(name, request);
  if (!schedule)
    ADD_FAILURE() << toString(schedule.takeError());
  return std::move(*schedule);
}

/// Each activation that a rank takes it gives back.
static void checkMemoryReturns(const Schedule &schedule) {
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    int64_t held = 0;
    for (const Action &action : schedule.getActions(rank))
      forEachPart(action, [&](const Action &part) {
        held += part.kind == ActionKind::F;
        held -= part.isWeightGradient();
      });
    EXPECT_EQ(held, 0) << "rank " << rank;
  }
}

static int64_t countSends(const Schedule &schedule, const CostModel &costs) {
  int64_t sends = 0;
  Schedule complete = addCommunication(schedule, costs);
  for (int64_t rank = 0; rank < complete.getRanks(); ++rank)
    for (const Action &action : complete.getActions(rank))
      sends += action.isSend();
  return sends;
}

/// The stages that every micro-batch has behind it when it reaches \p rank.
static double getStagesBefore(const Schedule &schedule, int64_t rank) {
  double fewest = schedule.getStages();
  for (const std::vector<int64_t> &ranks : schedule.getPlacement())
    fewest = std::min<double>(fewest, find(ranks, rank) - ranks.begin());
  return fewest;
}

/// A rank waits for the forwards of the stages before its first one, works, and
/// is followed by their backwards, unless it works on weights meanwhile.
static double getLowerBound(const Schedule &schedule, const Point &point) {
  double apart = point.f + point.bw();
  double work = point.m * point.v * std::min(apart, point.pair.value_or(apart));
  double bound = 0;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    double before = getStagesBefore(schedule, rank);
    double after = splitsBackward(schedule) ? 0 : before * point.bw();
    bound = std::max(bound, before * point.f + work + after);
  }
  return bound;
}

Figures pipewright::simulate(StringRef name, const Point &point) {
  Schedule schedule = build(name, point);
  EXPECT_EQ(toString(checkSchedule(schedule)), "")
      << name.str() << ", " << point;
  checkMemoryReturns(schedule);
  StageCost share = {point.f * point.v, point.b * point.v, point.w * point.v};
  std::optional<double> pair;
  if (point.pair)
    pair = *point.pair * point.v;
  CostModel costs = makeUniformCosts(schedule, share, point.l, pair);
  Timeline timeline = pipewright::simulate(schedule, costs);
  Metrics metrics = measure(schedule, timeline);
  EXPECT_EQ(metrics.messages, countSends(schedule, costs))
      << name.str() << ", " << point;
  Figures figures = {metrics.makespan,
                     getLowerBound(schedule, point),
                     *llvm::max_element(metrics.idle),
                     metrics.spanBubble,
                     metrics.peakActivations,
                     static_cast<double>(metrics.parameterCopies),
                     static_cast<double>(metrics.messages)};
  EXPECT_GE(figures.makespan + 1e-6, figures.lowerBound)
      << name.str() << ", " << point;
  for (double &peak : figures.peaks)
    peak *= point.v;
  return figures;
}

const std::vector<StageCost> &pipewright::getRatios() {
  static const std::vector<StageCost> ratios = {
      {1, 1, 1}, {2, 3, 1}, {5, 1, 2}, {1, 4, 4}, {3, 4, 2}, {4, 4, 3}};
  return ratios;
}
