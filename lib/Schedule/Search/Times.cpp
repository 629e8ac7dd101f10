//===- Times.cpp - When the operations of a solution run
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Times.h"

#include <algorithm>

using namespace pipewright;

SearchTimes::SearchTimes(const SearchProblem &problem)
    : problem(problem), starts(problem.getRanks()), ends(problem.getRanks()) {}

const SearchTimes::Place *SearchTimes::findInput(const SearchOp &op) const {
  // W follows its B on the same rank.
  if (op.kind == ActionKind::W)
    return nullptr;
  int64_t stage = op.stage, last = problem.getStages() - 1;
  bool isForward = op.kind == ActionKind::F;
  if (isForward && stage == 0)
    return nullptr;
  if (!isForward && stage == last)
    return &places[0][stage * problem.getMicrobatches() + op.microbatch];
  stage += isForward ? -1 : 1;
  return &places[isForward ? 0 : 1]
                [stage * problem.getMicrobatches() + op.microbatch];
}

/// The time at which the input of \p op, which has been made, is on its rank.
double SearchTimes::getArrival(const SearchOp &op) const {
  const Place *input = findInput(op);
  if (!input)
    return 0;
  double made = ends[input->rank][input->position];
  return input->rank == problem.getRank(op.stage) ? made
                                                  : made + problem.getLatency();
}

/// Runs what can run; returns false if nothing could.
bool SearchTimes::runRank(int64_t rank, const std::vector<SearchOp> &order) {
  std::vector<double> &rankStarts = starts[rank], &rankEnds = ends[rank];
  size_t before = rankEnds.size();
  for (size_t position = before; position < order.size(); ++position) {
    const SearchOp &op = order[position];
    const Place *input = findInput(op);
    if (input && input->rank < 0)
      break;
    double start =
        std::max(position == 0 ? 0 : rankEnds.back(), getArrival(op));
    rankStarts.push_back(start);
    rankEnds.push_back(start + problem.getDuration(op));
    if (op.kind != ActionKind::W)
      places[op.kind == ActionKind::F ? 0 : 1]
            [op.stage * problem.getMicrobatches() + op.microbatch] = {
                rank, static_cast<int64_t>(position)};
  }
  return rankEnds.size() > before;
}

bool SearchTimes::compute(const SearchOrders &orders) {
  for (std::vector<Place> &place : places)
    place.assign(problem.getStages() * problem.getMicrobatches(), {-1, 0});
  for (int64_t rank = 0; rank < problem.getRanks(); ++rank) {
    starts[rank].clear();
    ends[rank].clear();
  }
  bool goesOn = true;
  while (goesOn) {
    goesOn = false;
    // Down with the forwards and up with the backwards.
    for (int64_t rank = 0; rank < problem.getRanks(); ++rank)
      goesOn |= runRank(rank, orders[rank]);
    for (int64_t rank = problem.getRanks() - 1; rank >= 0; --rank)
      goesOn |= runRank(rank, orders[rank]);
  }
  for (int64_t rank = 0; rank < problem.getRanks(); ++rank)
    if (ends[rank].size() != orders[rank].size())
      return false;
  return true;
}

double SearchTimes::getEnd(int64_t rank) const {
  return ends[rank].back() - problem.getOffset(rank);
}

double SearchTimes::getPrimary() const {
  double latest = 0;
  for (int64_t rank = 0; rank < problem.getRanks(); ++rank)
    latest = std::max(latest, getEnd(rank));
  return latest;
}

double SearchTimes::getMean() const {
  double sum = 0;
  for (int64_t rank = 0; rank < problem.getRanks(); ++rank)
    sum += getEnd(rank);
  return sum / problem.getRanks();
}

Score SearchTimes::getScore(int64_t held) const {
  double makespan = 0, span = 0;
  for (int64_t rank = 0; rank < problem.getRanks(); ++rank) {
    makespan = std::max(makespan, ends[rank].back());
    span = std::max(span, ends[rank].back() - starts[rank].front());
  }
  return problem.makeScore(makespan, span, held);
}

std::vector<SearchTimes::Place>
SearchTimes::findCriticalPlaces(const SearchOrders &orders) const {
  int64_t last = 0;
  for (int64_t rank = 1; rank < problem.getRanks(); ++rank)
    if (getEnd(rank) > getEnd(last))
      last = rank;
  std::vector<Place> critical;
  Place place = {last, static_cast<int64_t>(ends[last].size()) - 1};
  while (place.position > 0) {
    const SearchOp &op = orders[place.rank][place.position];
    double before = ends[place.rank][place.position - 1];
    if (getArrival(op) <= before) {
      critical.push_back(place);
      --place.position;
      continue;
    }
    place = *findInput(op);
  }
  return critical;
}
