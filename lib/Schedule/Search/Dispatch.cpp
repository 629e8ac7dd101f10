//===- Dispatch.cpp - Schedules made by deciding step by step
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dispatch.h"

#include <algorithm>

using namespace pipewright;

static_assert(static_cast<int>(ActionKind::F) == 0 &&
                  static_cast<int>(ActionKind::B) == 1 &&
                  static_cast<int>(ActionKind::W) == 2,
              "counts and arrivals are indexed by kind");

void Dispatcher::reset() {
  int64_t ranks = problem.getRanks(), stages = problem.getStages();
  int64_t microbatches = problem.getMicrobatches();
  events = {};
  wakes.assign(ranks, never);
  freeAt.assign(ranks, 0);
  firstStart.assign(ranks, never);
  held.assign(ranks, 0);
  peak = 0;
  for (std::vector<int64_t> &count : counts)
    count.assign(stages, 0);
  for (std::vector<double> &arrival : arrivals)
    arrival.assign(stages * microbatches, never);
  std::fill_n(arrivals[0].begin(), microbatches, 0.0);
  orders.resize(ranks);
  for (std::vector<SearchOp> &order : orders)
    order.clear();
}

bool Dispatcher::run(double bound) {
  reset();
  start();
  wakeUp(problem.getRank(0), 0);
  int64_t left = problem.getSize();
  while (!events.empty()) {
    auto [now, rank] = events.top();
    events.pop();
    if (wakes[rank] != now)
      continue;
    wakes[rank] = never;
    Decision decision = decide(rank, now);
    if (!decision.runs) {
      if (decision.wake < never)
        wakeUp(rank, decision.wake);
      continue;
    }
    int64_t microbatch = getCount(decision.kind, decision.stage);
    commit(rank, now, decision.kind, decision.stage);
    --left;
    ++decisions;
    if (freeAt[rank] +
            problem.getTail(decision.kind, decision.stage, microbatch) >
        bound)
      return false;
    hasRun(rank);
    wakeUp(rank, freeAt[rank]);
  }
  return left == 0;
}

Score Dispatcher::getScore() const {
  double makespan = 0, span = 0;
  for (size_t rank = 0; rank < freeAt.size(); ++rank) {
    makespan = std::max(makespan, freeAt[rank]);
    span = std::max(span, freeAt[rank] - firstStart[rank]);
  }
  return problem.makeScore(makespan, span, peak);
}

double Dispatcher::getArrival(ActionKind kind, int64_t stage) const {
  int64_t next = getCount(kind, stage);
  if (next == problem.getMicrobatches())
    return never;
  return arrivals[static_cast<size_t>(kind)]
                 [stage * problem.getMicrobatches() + next];
}

double Dispatcher::getLatestStart(ActionKind kind, int64_t stage) const {
  SearchOp op = {kind, static_cast<int32_t>(stage),
                 static_cast<int32_t>(getCount(kind, stage))};
  return target - problem.getTail(kind, stage, op.microbatch) -
         problem.getDuration(op);
}

int64_t Dispatcher::findNextW(int64_t rank) const {
  int64_t best = -1;
  double bestStart = never;
  for (int64_t stage : problem.getStagesOf(rank)) {
    if (counts[2][stage] == counts[1][stage])
      continue;
    double latest = getLatestStart(ActionKind::W, stage);
    if (latest < bestStart) {
      bestStart = latest;
      best = stage;
    }
  }
  return best;
}

void Dispatcher::wakeUp(int64_t rank, double time) {
  time = std::max(time, freeAt[rank]);
  if (time >= wakes[rank])
    return;
  wakes[rank] = time;
  events.push({time, rank});
}

void Dispatcher::deliver(ActionKind kind, int64_t from, int64_t to,
                         int64_t microbatch, double end) {
  double arrival = end + problem.getHop(from, to);
  arrivals[static_cast<size_t>(kind)]
          [to * problem.getMicrobatches() + microbatch] = arrival;
  wakeUp(problem.getRank(to), arrival);
}

void Dispatcher::commit(int64_t rank, double now, ActionKind kind,
                        int64_t stage) {
  int64_t microbatch = counts[static_cast<size_t>(kind)][stage]++;
  SearchOp op = {kind, static_cast<int32_t>(stage),
                 static_cast<int32_t>(microbatch)};
  orders[rank].push_back(op);
  double end = now + problem.getDuration(op);
  freeAt[rank] = end;
  firstStart[rank] = std::min(firstStart[rank], now);
  if (kind == ActionKind::W) {
    --held[rank];
  } else if (kind == ActionKind::B) {
    if (stage > 0)
      deliver(ActionKind::B, stage, stage - 1, microbatch, end);
  } else {
    peak = std::max(peak, ++held[rank]);
    if (stage + 1 < problem.getStages())
      deliver(ActionKind::F, stage, stage + 1, microbatch, end);
    else
      deliver(ActionKind::B, stage, stage, microbatch, end);
  }
}
