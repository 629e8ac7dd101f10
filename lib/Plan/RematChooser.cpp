//===- RematChooser.cpp - The cheapest recomputation that fits
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Plan/RematChooser.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

using namespace pipewright;

llvm::StringRef pipewright::getName(Remat remat) {
  switch (remat) {
  case Remat::None:
    return "none";
  case Remat::Selective:
    return "selective";
  case Remat::Full:
    return "full";
  }
  llvm_unreachable("a policy without a name");
}

RematChooser::RematChooser(RematSet allowed, bool keepsHistory,
                           size_t mostPoints)
    : allowed(allowed), keepsHistory(keepsHistory), mostPoints(mostPoints),
      levels{{Point{0, 0, Remat::None, 0}}} {}

/// The combinations so far, each with \p layer in addition: in the order of
/// their bytes as before, but where a run of full layers begins.
RematChooser::Level RematChooser::extend(const PlanLayer &layer, Remat remat,
                                         const InFlight &inFlight,
                                         bool entersStage) const {
  Level level;
  int64_t time = layer.getAddedTime(remat);
  int64_t recomputed = inFlight.recomputed * layer.getRecomputedBytes(remat);
  int64_t bytes[2];
  for (bool entersRun : {false, true})
    bytes[entersRun] =
        recomputed + inFlight.kept * layer.getKeptBytes(remat, entersRun);
  for (auto [index, point] : llvm::enumerate(levels.back())) {
    bool entersRun = entersStage || point.remat != Remat::Full;
    Point next = {point.bytes + bytes[entersRun], point.time + time, remat,
                  uint32_t(index)};
    if (next.bytes <= mostBytes && next.time <= mostTime)
      level.push_back(next);
  }
  return level;
}

namespace {
/// Drops, of points in the order of their bytes, those that another one beats.
/// What the next layer costs depends on whether the last one is full: a full
/// one may do what another can, and not the other way round.
class Filter {
public:
  bool isBeaten(int64_t time, bool isFull) {
    if (time >= fastestFull || (!isFull && time >= fastestOther))
      return true;
    (isFull ? fastestFull : fastestOther) = time;
    return false;
  }

private:
  int64_t fastestFull = std::numeric_limits<int64_t>::max();
  int64_t fastestOther = std::numeric_limits<int64_t>::max();
};
} // namespace

/// Leaves points evenly, with both ends.
void RematChooser::thin(Level &level) {
  if (level.size() <= mostPoints)
    return;
  exact = false;
  Level thinned;
  for (size_t i = 0; i < mostPoints; ++i)
    thinned.push_back(level[i * (level.size() - 1) / (mostPoints - 1)]);
  level = std::move(thinned);
}

void RematChooser::append(const PlanLayer &layer, const InFlight &inFlight,
                          bool entersStage) {
  Level level;
  auto isSmaller = [](const Point &lhs, const Point &rhs) {
    return std::tuple(lhs.bytes, lhs.time, lhs.remat != Remat::Full,
                      lhs.previous) < std::tuple(rhs.bytes, rhs.time,
                                                 rhs.remat != Remat::Full,
                                                 rhs.previous);
  };
  for (Remat remat : {Remat::None, Remat::Selective, Remat::Full}) {
    if (!allowed.contains(remat))
      continue;
    Level extended = extend(layer, remat, inFlight, entersStage);
    if (remat == Remat::Full)
      llvm::sort(extended, isSmaller);
    Level merged;
    merged.reserve(level.size() + extended.size());
    std::merge(level.begin(), level.end(), extended.begin(), extended.end(),
               std::back_inserter(merged), isSmaller);
    level = std::move(merged);
  }
  Filter filter;
  llvm::erase_if(level, [&](const Point &point) {
    return filter.isBeaten(point.time, point.remat == Remat::Full);
  });
  thin(level);
  if (!keepsHistory)
    levels.clear();
  levels.push_back(std::move(level));
}

const RematChooser::Point *RematChooser::findBest(int64_t limit) const {
  const Point *best = nullptr;
  for (const Point &point : levels.back()) {
    if (point.bytes > limit)
      break;
    if (!best || point.time < best->time)
      best = &point;
  }
  return best;
}

std::optional<int64_t> RematChooser::getLeastTime(int64_t limit) const {
  const Point *best = findBest(limit);
  return best ? std::optional(best->time) : std::nullopt;
}

std::vector<Remat> RematChooser::getPolicies(int64_t limit) const {
  std::vector<Remat> policies(levels.size() - 1);
  const Point *point = findBest(limit);
  for (size_t layer = policies.size(); layer > 0; --layer) {
    policies[layer - 1] = point->remat;
    point = &levels[layer - 1][point->previous];
  }
  return policies;
}
