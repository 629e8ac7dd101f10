//===- DeadlinePolicy.cpp - What has to start first
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Policies.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace pipewright;

bool DeadlinePolicy::tryOptions(const Options &newOptions, double bound) {
  options = newOptions;
  target = problem.getLowerBound() * options.target;
  findLeads();
  return run(bound);
}

void DeadlinePolicy::findLeads() {
  leads.resize(problem.getStages());
  // From the end of F to the arrival of B.
  double away = 0;
  for (int64_t stage = problem.getStages() - 1; stage >= 0; --stage) {
    const StageCost &cost = problem.getCost(stage);
    double most = problem.getMicrobatches();
    double fit =
        cost.f > 0 ? std::min(options.lead * away / cost.f, most) : most;
    // Rounding must not decide where the quotient is a whole number.
    double rounded =
        options.roundUp ? std::ceil(fit - 1e-9) : std::floor(fit + 1e-9);
    leads[stage] = 1 + static_cast<int64_t>(rounded);
    if (stage > 0)
      away += cost.f + cost.b + 2 * problem.getHop(stage - 1, stage);
  }
}

bool DeadlinePolicy::hasRoom(int64_t rank, int64_t chunk) const {
  int64_t reserved = problem.getStagesOf(rank).size() - 1 - chunk;
  return getHeld(rank) + 1 + reserved <= options.capacity;
}

void DeadlinePolicy::consider(ActionKind kind, int64_t stage, double now) {
  double arrival = getArrival(kind, stage);
  if (arrival == never)
    return;
  double latest = getLatestStart(kind, stage);
  if (options.backwardFirst && kind == ActionKind::B)
    latest -= target;
  if (arrival > now)
    coming.push_back({arrival, latest});
  else if (latest < choice.latestStart)
    choice = {kind, stage, latest};
}

double DeadlinePolicy::findMoreUrgent(double now, double duration) const {
  double arrival = never;
  for (auto [start, latest] : coming)
    if (start < now + duration && latest < now + duration &&
        latest < choice.latestStart)
      arrival = std::min(arrival, start);
  return arrival;
}

Dispatcher::Decision DeadlinePolicy::decide(int64_t rank, double now) {
  choice = {};
  coming.clear();
  // The latest start of a forward that has arrived but finds no memory.
  double blocked = never;
  for (auto [chunk, stage] : llvm::enumerate(problem.getStagesOf(rank))) {
    consider(ActionKind::B, stage, now);
    if (getCount(ActionKind::F, stage) - getCount(ActionKind::B, stage) >=
        leads[stage])
      continue;
    if (hasRoom(rank, chunk))
      consider(ActionKind::F, stage, now);
    else if (getArrival(ActionKind::F, stage) <= now)
      blocked = std::min(blocked, getLatestStart(ActionKind::F, stage));
  }

  int64_t weight = findNextW(rank);
  double weightTime = weight < 0 ? never : problem.getCost(weight).w;
  if (weight >= 0) {
    // W frees memory, so it is as urgent as the forward that waits for it.
    double latest =
        std::min(getLatestStart(ActionKind::W, weight), blocked - weightTime);
    if (latest < choice.latestStart)
      choice = {ActionKind::W, weight, latest};
  }
  if (choice.stage < 0) {
    double arrival = never;
    for (auto [start, latest] : coming)
      arrival = std::min(arrival, start);
    return waitUntil(arrival);
  }

  SearchOp op = {choice.kind, static_cast<int32_t>(choice.stage), 0};
  double arrival = findMoreUrgent(now, problem.getDuration(op));
  if (arrival == never)
    return runNow(choice.kind, choice.stage);
  if (choice.kind != ActionKind::W && now + weightTime <= arrival)
    return runNow(ActionKind::W, weight);
  return waitUntil(arrival);
}
