//===- FormulaGrid.cpp - Simulated figures to compare with formulas
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormulaGrid.h"

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"

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

static double countSends(const Schedule &schedule, const CostModel &costs) {
  double sends = 0;
  Schedule complete = addCommunication(schedule, costs);
  for (int64_t rank = 0; rank < complete.getRanks(); ++rank)
    for (const Action &action : complete.getActions(rank))
      sends += action.isSend();
  return sends;
}

/// No order is faster: the first stages of all micro-batches' way through the
/// pipeline, and the work of one rank.
static double getLowerBound(const Point &point, const Schedule &schedule) {
  double stages = schedule.getStages();
  double oneMicrobatch = stages * (point.f + point.b) + point.w;
  return point.pair ? 0 : std::max(point.work(), oneMicrobatch);
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
  EXPECT_GE(timeline.makespan + 1e-6, getLowerBound(point, schedule))
      << name.str() << ", " << point;

  Metrics metrics = measure(schedule, timeline);
  double idlest = *std::max_element(metrics.idle.begin(), metrics.idle.end());
  Figures figures = {metrics.makespan,
                     idlest,
                     0,
                     metrics.peakActivations,
                     static_cast<double>(metrics.parameterCopies),
                     countSends(schedule, costs)};
  double span = 0;
  for (const std::vector<Timeline::Entry> &entries : timeline.ranks)
    span = std::max(span, entries.back().end - entries.front().start);
  figures.spanBubble = span - (metrics.makespan - idlest);
  for (double &peak : figures.peaks)
    peak *= point.v;
  return figures;
}

const std::vector<StageCost> &pipewright::getRatios() {
  static const std::vector<StageCost> ratios = {
      {1, 1, 1}, {2, 3, 1}, {5, 1, 2}, {1, 4, 4}, {3, 4, 2}, {4, 4, 3}};
  return ratios;
}
