//===- ScorePlan.cpp - How good a shape is, quickly
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScorePlan.h"

#include "pipewright/Schedule/ScheduleRegistry.h"

using namespace pipewright;
using llvm::Expected;

static Expected<Schedule> makeSchedule(const PlanShape &shape,
                                       int64_t microbatches) {
  return buildSchedule(shape.schedule,
                       {shape.ranks, microbatches, shape.chunks});
}

static Expected<JudgedCut> judgeFirst(const CutSearchProblem &problem) {
  if (std::optional<JudgedCut> cut = findFirstCut(problem))
    return std::move(*cut);
  return llvm::createStringError("the model has too few layers for so many "
                                 "stages");
}

static PlanScore getScore(const JudgedCut &cut) {
  return {cut.stepSeconds, cut.excessBytes, cut.getPeakBytes()};
}

/// The score by two shorter steps, of which one has a micro-batch more for each
/// rank.
static Expected<PlanScore> extrapolate(const PlanShape &shape,
                                       const Schedule &longer,
                                       const Schedule &shorter,
                                       ProblemMaker makeProblem) {
  Expected<CutSearchProblem> problem = makeProblem(longer);
  if (!problem)
    return problem.takeError();
  Expected<JudgedCut> cut = judgeFirst(*problem);
  if (!cut)
    return cut.takeError();
  PlanScore score = getScore(*cut);
  problem->schedule = &shorter;
  double difference =
      score.stepSeconds - judgeCut(*problem, cut->begins).stepSeconds;
  score.stepSeconds += difference / shape.ranks *
                       (shape.microbatches - longer.getShape().microbatches);
  return score;
}

Expected<PlanScore> pipewright::scorePlan(const PlanShape &shape,
                                          ProblemMaker makeProblem) {
  // Some schedules want multiples of the ranks, or twice as many.
  int64_t more = 4 * shape.ranks + shape.microbatches % shape.ranks;
  if (shape.microbatches > 2 * more) {
    Expected<Schedule> longer = makeSchedule(shape, more);
    Expected<Schedule> shorter = makeSchedule(shape, more - shape.ranks);
    if (longer && shorter &&
        getPeakActivations(*longer) == getPeakActivations(*shorter))
      return extrapolate(shape, *longer, *shorter, makeProblem);
    llvm::consumeError(longer.takeError());
    llvm::consumeError(shorter.takeError());
  }
  Expected<Schedule> schedule = makeSchedule(shape, shape.microbatches);
  if (!schedule)
    return schedule.takeError();
  Expected<CutSearchProblem> problem = makeProblem(*schedule);
  if (!problem)
    return problem.takeError();
  Expected<JudgedCut> cut = judgeFirst(*problem);
  if (!cut)
    return cut.takeError();
  return getScore(*cut);
}
