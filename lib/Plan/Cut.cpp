//===- Cut.cpp - Cut layers for links, memory and unequal ranks
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Plan/Cut.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace pipewright;

/// Large problems are looked at less closely.
static size_t getMostPoints(const CutProblem &problem) {
  size_t places = problem.layers.size() * problem.slots.size();
  return std::clamp<size_t>((size_t(1) << 22) / places, 32, 4096);
}

namespace {
/// The time of a stage, as long as it may be.
using StageTime = std::optional<int64_t>;

/// What is minimized: first the maximum alone, then the sum of squares of cuts
/// within it.
enum class Goal { Maximum, Squares };

/// The stages that begin at one layer, one layer longer with each step.
class GrowingStage {
public:
  /// Stages that take longer than \p maximum are not wanted.
  GrowingStage(const CutProblem &problem, size_t stage, size_t begin,
               int64_t maximum)
      : problem(problem), slot(problem.slots[stage]),
        isLast(stage + 1 == problem.slots.size()), begin(begin), end(begin),
        maximum(maximum),
        remats(problem.remats, /*keepsHistory=*/false, getMostPoints(problem)) {
    if (stage != 0)
      linkTime = getLinkTime(slot, begin);
    if (!isLast)
      next = &problem.slots[stage + 1];
  }

  void grow();
  /// Even the fastest longer stage takes as long, or holds as much.
  int64_t getShortestTime() const { return scale(work); }
  bool isTooLarge() const { return parameterBytes > slot.memory; }
  StageTime getTime();

private:
  static int64_t getLinkTime(const StageSlot &slot, int64_t bytes) {
    return std::llround(slot.linkLatency + slot.linkTimePerByte * bytes);
  }
  int64_t getLinkTime(const StageSlot &slot, size_t layer) const {
    return getLinkTime(slot, problem.layers[layer].bytesBefore);
  }
  int64_t scale(int64_t time) const {
    return slot.slowness == 1 ? time : std::llround(slot.slowness * time);
  }
  std::optional<int64_t> getAddedTime();

  const CutProblem &problem;
  const StageSlot &slot;
  /// Of the stage behind; null for the last one.
  const StageSlot *next = nullptr;
  bool isLast;
  size_t begin, end;
  int64_t maximum;
  int64_t work = 0, parameterBytes = 0, keptBytes = 0, linkTime = 0;
  /// Of the layers up to `chosenEnd`: there is no need to choose where all
  /// can be kept.
  RematChooser remats;
  size_t chosenEnd = 0;
};

class Cutter {
public:
  explicit Cutter(const CutProblem &problem)
      : problem(problem), layers(problem.layers.size()),
        stages(problem.slots.size()) {}

  std::optional<Cut> run();

private:
  struct Place {
    /// The best for the layers before it, if there is any.
    std::optional<double> cost;
    uint32_t begin = 0;
  };

  int64_t getLowestMaximum() const;
  int64_t getHighestMaximum() const;
  bool cutWithin(int64_t maximum, Goal goal);
  void cutStage(size_t stage, int64_t maximum, Goal goal);
  Cut makeCut(int64_t slowest) const;
  void chooseRemats(Cut &cut) const;

  const CutProblem &problem;
  size_t layers, stages;
  /// After each stage, where the next one may begin.
  std::vector<std::vector<Place>> places;
};
} // namespace

//===----------------------------------------------------------------------===//
// One stage
//===----------------------------------------------------------------------===//

void GrowingStage::grow() {
  const PlanLayer &layer = problem.layers[end++];
  work += layer.getWork();
  parameterBytes += layer.parameterBytes;
  keptBytes += layer.savedBytes;
}

/// What recomputation must add for the stage to fit.
std::optional<int64_t> GrowingStage::getAddedTime() {
  int64_t left = slot.memory - parameterBytes;
  if (problem.remats.none && slot.inFlight.kept * keptBytes <= left)
    return 0;
  if (chosenEnd == 0)
    chosenEnd = begin;
  remats.setLimits(left, maximum / slot.slowness - work + 1);
  for (; chosenEnd < end; ++chosenEnd)
    remats.append(problem.layers[chosenEnd], slot.inFlight,
                  /*entersStage=*/chosenEnd == begin);
  return remats.getLeastTime(left);
}

StageTime GrowingStage::getTime() {
  std::optional<int64_t> added = getAddedTime();
  if (!added)
    return std::nullopt;
  int64_t time = scale(work + *added);
  int64_t before = linkTime;
  int64_t behind = next ? getLinkTime(*next, end) : 0;
  if (problem.linkUse == LinkUse::Serial)
    return time + before + behind;
  return std::max({time, before, behind});
}

//===----------------------------------------------------------------------===//
// All stages
//===----------------------------------------------------------------------===//

/// No cut is faster than the layers spread evenly.
int64_t Cutter::getLowestMaximum() const {
  double work = 0, speed = 0;
  for (const PlanLayer &layer : problem.layers)
    work += layer.getWork();
  for (const StageSlot &slot : problem.slots)
    speed += 1 / slot.slowness;
  return static_cast<int64_t>(work / speed);
}

/// No stage is slower than all layers, each computed twice, with its links.
int64_t Cutter::getHighestMaximum() const {
  double work = 0, bytes = 0, slowness = 0, latency = 0, perByte = 0;
  for (const PlanLayer &layer : problem.layers) {
    work += layer.getWork() + layer.forward + layer.selectiveTime;
    bytes = std::max<double>(bytes, layer.bytesBefore);
  }
  for (const StageSlot &slot : problem.slots) {
    slowness = std::max(slowness, slot.slowness);
    latency = std::max(latency, slot.linkLatency);
    perByte = std::max(perByte, slot.linkTimePerByte);
  }
  return std::ceil(work * slowness + 2 * (latency + perByte * bytes)) + 4;
}

/// What a stage that takes \p time makes of the \p cost of those before.
static double addStage(double cost, double time, Goal goal) {
  return goal == Goal::Maximum ? std::max(cost, time) : cost + time * time;
}

void Cutter::cutStage(size_t stage, int64_t maximum, Goal goal) {
  const std::vector<Place> &before = places[stage];
  std::vector<Place> &after = places[stage + 1];
  after.assign(layers + 1, {});
  // Each stage behind needs a layer.
  size_t lastEnd = layers - (stages - stage - 1);
  // Short stages first: they are cheap to judge, and rule long ones out.
  for (size_t begin = lastEnd; begin-- > stage;) {
    if (!before[begin].cost)
      continue;
    GrowingStage growing(problem, stage, begin, maximum);
    for (size_t end = begin + 1; end <= lastEnd; ++end) {
      growing.grow();
      int64_t shortest = growing.getShortestTime();
      if (shortest > maximum || growing.isTooLarge())
        break;
      if (stage + 1 == stages && end != layers)
        continue;
      std::optional<double> &best = after[end].cost;
      if (best && addStage(*before[begin].cost, shortest, goal) >= *best)
        continue;
      StageTime time = growing.getTime();
      // A longer one holds more.
      if (!time)
        break;
      double cost = addStage(*before[begin].cost, *time, goal);
      if (*time <= maximum && (!best || cost < *best))
        after[end] = {cost, uint32_t(begin)};
    }
  }
}

/// Whether there is a cut whose stages all take \p maximum at most.
bool Cutter::cutWithin(int64_t maximum, Goal goal) {
  places.assign(stages + 1, std::vector<Place>(layers + 1));
  places[0][0].cost = 0;
  for (size_t stage = 0; stage < stages; ++stage)
    cutStage(stage, maximum, goal);
  return places[stages][layers].cost.has_value();
}

void Cutter::chooseRemats(Cut &cut) const {
  for (size_t stage = 0; stage < stages; ++stage) {
    size_t end = stage + 1 < stages ? cut.begins[stage + 1] : layers;
    const StageSlot &slot = problem.slots[stage];
    RematChooser remats(problem.remats, /*keepsHistory=*/true);
    int64_t left = slot.memory;
    for (size_t layer = cut.begins[stage]; layer < end; ++layer) {
      remats.append(problem.layers[layer], slot.inFlight,
                    /*entersStage=*/layer == cut.begins[stage]);
      left -= problem.layers[layer].parameterBytes;
    }
    llvm::append_range(cut.remats, remats.getPolicies(left));
  }
}

Cut Cutter::makeCut(int64_t slowest) const {
  Cut cut;
  cut.slowest = slowest;
  cut.begins.resize(stages);
  size_t end = layers;
  for (size_t stage = stages; stage > 0; --stage)
    cut.begins[stage - 1] = end = places[stage][end].begin;
  chooseRemats(cut);
  return cut;
}

std::optional<Cut> Cutter::run() {
  if (stages == 0 || layers < stages)
    return std::nullopt;
  // A bound keeps stages short, and so the search fast: it grows until there
  // is a cut within it.
  int64_t highest = getHighestMaximum();
  int64_t bound = getLowestMaximum();
  for (int64_t step = bound / 8 + 1;; step *= 2) {
    if (bound >= highest)
      return std::nullopt;
    bound = std::min(highest, bound + step);
    if (cutWithin(bound, Goal::Maximum))
      break;
  }
  auto slowest = static_cast<int64_t>(*places[stages][layers].cost);
  cutWithin(slowest, Goal::Squares);
  return makeCut(slowest);
}

std::optional<Cut> pipewright::cutLayers(const CutProblem &problem) {
  return Cutter(problem).run();
}
