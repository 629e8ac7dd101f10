//===- PatternPolicy.cpp - An order that repeats with each micro-batch
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The idea of a repeated block, whose shape sets how long activations live and
// so how much memory they take, is that of Qi et al., NeurIPS 2024,
// arXiv:2405.15362.
//
//===----------------------------------------------------------------------===//

#include "Policies.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

using namespace pipewright;

bool PatternPolicy::tryOptions(const Options &newOptions, double bound) {
  options = newOptions;
  layOut();
  return run(bound);
}

/// Gives each F and B the time at which it would run if the ranks were free,
/// one period after the one of the micro-batch before, and sorts each rank's.
void PatternPolicy::layOut() {
  int64_t stages = problem.getStages(), ranks = problem.getRanks();
  double period = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    double busy = 0;
    for (int64_t stage : problem.getStagesOf(rank)) {
      const StageCost &cost = problem.getCost(stage);
      busy += cost.f + cost.b + cost.w;
    }
    period = std::max(period, busy);
  }

  std::vector<double> forward(stages), backward(stages);
  auto getStep = [&](double time, double factor, int64_t from, int64_t to) {
    bool stays = problem.getRank(from) == problem.getRank(to);
    return stays ? time : time * factor + problem.getHop(from, to);
  };
  double time = 0;
  for (int64_t stage = 0; stage < stages; ++stage) {
    forward[stage] = time;
    double factor = options.forward[stage / ranks % 2];
    double cost = problem.getCost(stage).f;
    time += stage + 1 < stages ? getStep(cost, factor, stage, stage + 1) : cost;
  }
  time += options.gap * period;
  for (int64_t stage = stages - 1; stage >= 0; --stage) {
    backward[stage] = time;
    double factor = options.backward[stage / ranks % 2];
    if (stage > 0)
      time += getStep(problem.getCost(stage).b, factor, stage, stage - 1);
  }

  pattern.assign(ranks, {});
  for (int64_t rank = 0; rank < ranks; ++rank) {
    std::vector<SearchOp> &ops = pattern[rank];
    for (int64_t stage : problem.getStagesOf(rank))
      for (int32_t mb = 0; mb < problem.getMicrobatches(); ++mb)
        for (ActionKind kind : {ActionKind::F, ActionKind::B})
          ops.push_back({kind, static_cast<int32_t>(stage), mb});
    auto getKey = [&](const SearchOp &op) {
      const auto &block = op.kind == ActionKind::F ? forward : backward;
      return std::tuple(block[op.stage] + op.microbatch * period, op.kind,
                        op.stage);
    };
    llvm::sort(ops, [&](const SearchOp &lhs, const SearchOp &rhs) {
      return getKey(lhs) < getKey(rhs);
    });
  }
}

void PatternPolicy::start() {
  remaining = pattern;
  positions.assign(problem.getRanks(), 0);
}

void PatternPolicy::hasRun(int64_t rank) {
  // F and B run in the order of the list, so only W leaves it where it was.
  const std::vector<SearchOp> &list = remaining[rank];
  size_t &position = positions[rank];
  if (position == list.size())
    return;
  const SearchOp &op = list[position];
  if (getCount(op.kind, op.stage) > op.microbatch)
    ++position;
}

const SearchOp *PatternPolicy::findNext(int64_t rank, bool canFree) {
  std::vector<SearchOp> &list = remaining[rank];
  auto next = list.begin() + positions[rank];
  if (next == list.end())
    return nullptr;
  if (next->kind == ActionKind::F && !canFree &&
      getHeld(rank) >= options.capacity) {
    auto backward = std::find_if(next, list.end(), [](const SearchOp &op) {
      return op.kind == ActionKind::B;
    });
    if (backward == list.end())
      return nullptr;
    std::rotate(next, backward, backward + 1);
  }
  return &*next;
}

Dispatcher::Decision PatternPolicy::decide(int64_t rank, double now) {
  int64_t weight = findNextW(rank);
  const SearchOp *next = findNext(rank, /*canFree=*/weight >= 0);
  if (!next)
    return weight < 0 ? waitUntil(never) : runNow(ActionKind::W, weight);
  double arrival = getArrival(next->kind, next->stage);
  bool isBlocked =
      next->kind == ActionKind::F && getHeld(rank) >= options.capacity;
  if (arrival <= now && !isBlocked)
    return runNow(next->kind, next->stage);
  if (weight >= 0 && (isBlocked || options.eager ||
                      now + problem.getCost(weight).w <= arrival))
    return runNow(ActionKind::W, weight);
  return waitUntil(isBlocked ? never : arrival);
}
