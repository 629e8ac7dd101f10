//===- Problem.cpp - What a search for a schedule has to solve
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace pipewright;

bool Score::operator<(const Score &other) const {
  auto differs = [](double mine, double its) {
    return std::abs(mine - its) > 1e-11 * std::max(mine, its);
  };
  if (differs(primary, other.primary))
    return primary < other.primary;
  if (copies != other.copies)
    return copies < other.copies;
  if (differs(memory, other.memory))
    return memory < other.memory;
  return differs(secondary, other.secondary) && secondary < other.secondary;
}

/// The most stages' activations that stay within \p limit as the checker
/// computes it.
static int64_t findCapacity(std::optional<double> limit, int64_t chunks,
                            int64_t most) {
  if (!limit || *limit * chunks >= most)
    return most;
  int64_t capacity = std::max<int64_t>(0, std::floor(*limit * chunks));
  if (static_cast<double>(capacity + 1) / chunks <= *limit)
    return capacity + 1;
  return capacity;
}

SearchProblem::SearchProblem(const ScheduleRequest &request,
                             const std::vector<int64_t> &placement)
    : shape(request.shape), objective(request.objective), rankOf(placement),
      stagesOf(request.shape.ranks), latency(request.costs.latency) {
  for (int64_t stage = 0; stage < getStages(); ++stage)
    stagesOf[rankOf[stage]].push_back(stage);
  const StageCost &share = request.costs.share;
  double chunks = shape.chunks;
  costs = request.costs.stages;
  if (costs.empty())
    costs.assign(getStages(),
                 {share.f / chunks, share.b / chunks, share.w / chunks});
  // The forward that is repeated is part of the way of the gradients.
  if (request.recompute)
    for (StageCost &cost : costs)
      cost.b += cost.f;
  capacity = findCapacity(request.memoryLimit, shape.chunks,
                          shape.chunks * shape.microbatches);
  findOffsets();
  findTails();
}

double SearchProblem::getDuration(const SearchOp &op) const {
  const StageCost &cost = costs[op.stage];
  if (op.kind == ActionKind::F)
    return cost.f;
  return op.kind == ActionKind::B ? cost.b : cost.w;
}

void SearchProblem::findOffsets() {
  offsets.assign(getRanks(), 0);
  if (objective != Objective::Span)
    return;
  double arrival = 0;
  for (int64_t stage = 0; stage < getStages(); ++stage) {
    int64_t rank = rankOf[stage];
    if (stage == stagesOf[rank].front())
      offsets[rank] = arrival;
    arrival += costs[stage].f;
    if (stage + 1 < getStages())
      arrival += getHop(stage, stage + 1);
  }
}

/// After F of a stage and micro-batch j there follow, on its rank: F of the
/// same and later stages from j on, and B and W of all stages from j on. After
/// B: B and W of the same and earlier stages from j on.
void SearchProblem::findTails() {
  int64_t microbatches = getMicrobatches();
  std::vector<double> forward(getStages()), backward(getStages());
  for (ArrayRef<int64_t> stages : stagesOf) {
    double sum = 0;
    for (int64_t stage : stages)
      backward[stage] = sum += costs[stage].b + costs[stage].w;
    for (int64_t stage : reverse(stages))
      forward[stage] = sum += costs[stage].f;
  }
  tailF.resize(getStages() * microbatches);
  tailB.resize(getStages() * microbatches);
  for (int64_t stage = 0; stage < getStages(); ++stage)
    for (int64_t mb = 0; mb < microbatches; ++mb) {
      double own = (microbatches - mb) * backward[stage] - costs[stage].b;
      double &tail = tailB[stage * microbatches + mb];
      tail = own - offsets[rankOf[stage]];
      if (stage > 0)
        tail =
            std::max(tail, tailB[(stage - 1) * microbatches + mb] +
                               costs[stage - 1].b + getHop(stage, stage - 1));
    }
  for (int64_t stage = getStages() - 1; stage >= 0; --stage)
    for (int64_t mb = 0; mb < microbatches; ++mb) {
      double own = (microbatches - mb) * forward[stage] - costs[stage].f;
      double next = stage + 1 == getStages()
                        ? tailB[stage * microbatches + mb] + costs[stage].b
                        : tailF[(stage + 1) * microbatches + mb] +
                              costs[stage + 1].f + getHop(stage, stage + 1);
      tailF[stage * microbatches + mb] =
          std::max(own - offsets[rankOf[stage]], next);
    }
  double head = 0;
  for (int64_t stage = 0; stage < getStages(); ++stage) {
    head += costs[stage].f;
    lowerBound = std::max(lowerBound, head + tailF[stage * microbatches]);
    if (stage + 1 < getStages())
      head += getHop(stage, stage + 1);
  }
}

double SearchProblem::getTail(ActionKind kind, int64_t stage,
                              int64_t microbatch) const {
  int64_t microbatches = getMicrobatches();
  if (kind == ActionKind::F)
    return tailF[stage * microbatches + microbatch];
  if (kind == ActionKind::B)
    return tailB[stage * microbatches + microbatch];
  return (microbatches - 1 - microbatch) * costs[stage].w -
         offsets[rankOf[stage]];
}

Schedule SearchProblem::makeSchedule(const SearchOrders &orders) const {
  Schedule schedule(shape, {rankOf});
  for (auto [rank, ops] : enumerate(orders))
    for (const SearchOp &op : ops)
      schedule.add(rank, {op.kind, op.stage, op.microbatch});
  return schedule;
}
