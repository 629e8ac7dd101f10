//===- CutSearch.cpp - The cut that a schedule runs fastest
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Plan/CutSearch.h"

#include "pipewright/Plan/StepLosses.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>
#include <set>

using namespace llvm;
using namespace pipewright;

static constexpr double picosecond = 1e-12;

namespace {
/// One stage of a rank, of any direction.
struct HeldStage {
  int64_t stage, direction;
};

/// Judges cuts for one schedule.
class CutJudge {
public:
  explicit CutJudge(const CutSearchProblem &problem);

  JudgedCut judge(std::vector<size_t> begins) const;
  std::optional<JudgedCut> findFirst() const;
  /// Simulated for each cut.
  int64_t getActions() const { return actions; }
  size_t getStages() const { return schedule.getStages(); }

private:
  void countInFlight(int64_t rank);
  StageSlot makeSlot(int64_t stage, bool isLimited) const;

  std::vector<Remat> chooseRemats(ArrayRef<size_t> begins) const;
  void chooseForRank(ArrayRef<size_t> begins, int64_t rank,
                     std::vector<Remat> &remats) const;
  void chooseForAll(ArrayRef<size_t> begins, std::vector<Remat> &remats) const;

  size_t getEnd(ArrayRef<size_t> begins, size_t stage) const {
    return stage + 1 < begins.size() ? begins[stage + 1]
                                     : problem.layers.size();
  }
  ArrayRef<PlanLayer> getLayers(ArrayRef<size_t> begins, size_t stage) const {
    return problem.layers.slice(begins[stage],
                                getEnd(begins, stage) - begins[stage]);
  }
  int64_t getParameterBytes(ArrayRef<size_t> begins, int64_t rank) const;
  double getUpdateSeconds(ArrayRef<size_t> begins, int64_t rank) const;
  void measureMemory(JudgedCut &cut) const;
  int64_t measurePeak(int64_t rank, ArrayRef<int64_t> kept,
                      ArrayRef<int64_t> recomputed) const;
  void measureTime(JudgedCut &cut) const;

  const CutSearchProblem &problem;
  const Schedule &schedule;
  /// Per rank.
  std::vector<std::vector<HeldStage>> held;
  /// Per stage of direction 0, where its rank holds most.
  std::vector<InFlight> inFlight;
  int64_t actions = 0;
  bool hasWeightTasks;
};
} // namespace

//===----------------------------------------------------------------------===//
// What the schedule holds
//===----------------------------------------------------------------------===//

CutJudge::CutJudge(const CutSearchProblem &problem)
    : problem(problem), schedule(*problem.schedule), held(schedule.getRanks()),
      inFlight(schedule.getStages()), hasWeightTasks(splitsBackward(schedule)) {
  for (int64_t direction = 0; direction < schedule.getDirections(); ++direction)
    for (int64_t stage = 0; stage < schedule.getStages(); ++stage)
      held[schedule.getRank(stage, direction)].push_back({stage, direction});
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    countInFlight(rank);
    actions += schedule.getActions(rank).size();
  }
}

/// Calls \p function with each part of the computing actions of \p rank.
template <typename FunctionT>
static void forEachCompute(const Schedule &schedule, int64_t rank,
                           FunctionT function) {
  for (const Action &action : schedule.getActions(rank))
    if (action.isCompute())
      forEachPart(action, function);
}

/// Counts micro-batches where \p rank holds most of them, all its stages taken
/// together as if they were alike.
void CutJudge::countInFlight(int64_t rank) {
  std::vector<int64_t> kept(getStages()), recomputed(getStages()),
      mostRecomputed(getStages(), 1);
  int64_t sum = 0, most = 0;
  forEachCompute(schedule, rank, [&](const Action &part) {
    if (part.direction != 0)
      return;
    int64_t stage = part.stage;
    if (part.kind == ActionKind::F) {
      ++kept[stage];
      if (++sum > most) {
        most = sum;
        for (HeldStage one : held[rank])
          inFlight[one.stage].kept = std::max<int64_t>(kept[one.stage], 1);
      }
    }
    if (part.kind == ActionKind::B)
      mostRecomputed[stage] =
          std::max(mostRecomputed[stage], ++recomputed[stage]);
    if (part.kind == ActionKind::W)
      --recomputed[stage];
    if (part.isWeightGradient()) {
      --kept[stage];
      --sum;
    }
  });
  for (HeldStage one : held[rank])
    if (one.direction == 0)
      inFlight[one.stage].recomputed = mostRecomputed[one.stage];
}

//===----------------------------------------------------------------------===//
// The first cut
//===----------------------------------------------------------------------===//

/// A rank with several stages can use its memory for any of them: no stage has
/// a limit of its own then.
StageSlot CutJudge::makeSlot(int64_t stage, bool isLimited) const {
  int64_t rank = schedule.getRank(stage);
  StageSlot slot;
  slot.slowness = problem.costs.machine.getRankFactor(rank);
  slot.inFlight = inFlight[stage];
  if (isLimited && held[rank].size() == 1)
    slot.memory = problem.memory;
  if (stage > 0 && schedule.getRank(stage - 1) != rank) {
    RankLink link = problem.costs.getLink(schedule.getRank(stage - 1), rank);
    slot.linkTimePerByte = link.getMessageTime(1) / picosecond;
  }
  return slot;
}

std::optional<JudgedCut> CutJudge::findFirst() const {
  for (bool isLimited : {true, false}) {
    CutProblem plain;
    plain.layers = problem.layers;
    plain.remats = problem.remats;
    for (size_t stage = 0; stage < getStages(); ++stage)
      plain.slots.push_back(makeSlot(stage, isLimited));
    if (std::optional<Cut> cut = cutLayers(plain))
      return judge(cut->begins);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// What is recomputed
//===----------------------------------------------------------------------===//

/// Parameters of all stages of \p rank.
int64_t CutJudge::getParameterBytes(ArrayRef<size_t> begins,
                                    int64_t rank) const {
  int64_t bytes = 0;
  for (HeldStage one : held[rank])
    for (const PlanLayer &layer : getLayers(begins, one.stage))
      bytes += layer.parameterBytes;
  return bytes;
}

double CutJudge::getUpdateSeconds(ArrayRef<size_t> begins, int64_t rank) const {
  int64_t shardBytes = 0;
  for (HeldStage one : held[rank])
    for (const PlanLayer &layer : getLayers(begins, one.stage))
      shardBytes += layer.shardBytes;
  return problem.updateSecondsPerByte * getParameterBytes(begins, rank) -
         problem.shardGainPerByte * shardBytes;
}

/// As little as fits into the rank's memory; what holds least if none does.
void CutJudge::chooseForRank(ArrayRef<size_t> begins, int64_t rank,
                             std::vector<Remat> &remats) const {
  RematChooser chooser(problem.remats, /*keepsHistory=*/true);
  for (HeldStage one : held[rank])
    for (auto [index, layer] : enumerate(getLayers(begins, one.stage)))
      chooser.append(layer, inFlight[one.stage], /*entersStage=*/index == 0);
  int64_t left = problem.memory - getParameterBytes(begins, rank);
  std::vector<Remat> chosen =
      chooser.getPolicies(std::max(left, chooser.getLeastBytes()));
  auto next = chosen.begin();
  for (HeldStage one : held[rank])
    for (size_t layer = begins[one.stage]; layer < getEnd(begins, one.stage);
         ++layer)
      remats[layer] = *next++;
}

/// The same policy for all layers, which both directions run.
void CutJudge::chooseForAll(ArrayRef<size_t> begins,
                            std::vector<Remat> &remats) const {
  for (Remat remat : {Remat::None, Remat::Selective, Remat::Full}) {
    if (!problem.remats.contains(remat))
      continue;
    JudgedCut cut;
    cut.begins = begins;
    cut.remats.assign(remats.size(), remat);
    measureMemory(cut);
    remats = cut.remats;
    if (cut.excessBytes == 0)
      return;
  }
}

std::vector<Remat> CutJudge::chooseRemats(ArrayRef<size_t> begins) const {
  std::vector<Remat> remats(problem.layers.size());
  if (schedule.getDirections() > 1)
    chooseForAll(begins, remats);
  else
    for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
      chooseForRank(begins, rank, remats);
  return remats;
}

//===----------------------------------------------------------------------===//
// Memory and time
//===----------------------------------------------------------------------===//

/// The most that \p rank holds if its stages keep and compute again so many
/// bytes of each micro-batch.
int64_t CutJudge::measurePeak(int64_t rank, ArrayRef<int64_t> kept,
                              ArrayRef<int64_t> recomputed) const {
  int64_t bytes = 0, peak = 0;
  forEachCompute(schedule, rank, [&](const Action &part) {
    if (part.kind == ActionKind::F)
      bytes += kept[part.stage];
    // Just before it, it is computed again.
    if (part.isInputGradient())
      bytes += recomputed[part.stage];
    peak = std::max(peak, bytes);
    if (part.isWeightGradient())
      bytes -= kept[part.stage] + recomputed[part.stage];
  });
  return peak;
}

void CutJudge::measureMemory(JudgedCut &cut) const {
  std::vector<int64_t> kept(getStages()), recomputed(getStages());
  for (size_t stage = 0; stage < getStages(); ++stage)
    for (size_t layer = cut.begins[stage]; layer < getEnd(cut.begins, stage);
         ++layer) {
      Remat remat = cut.remats[layer];
      bool entersRun =
          layer == cut.begins[stage] || cut.remats[layer - 1] != Remat::Full;
      kept[stage] += problem.layers[layer].getKeptBytes(remat, entersRun);
      recomputed[stage] += problem.layers[layer].getRecomputedBytes(remat);
    }
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    int64_t peak = getParameterBytes(cut.begins, rank) +
                   measurePeak(rank, kept, recomputed);
    cut.peakBytes.push_back(peak);
    cut.excessBytes += std::max<int64_t>(0, peak - problem.memory);
  }
}

/// Adds the times of what \p layer is, in seconds.
static void appendTimes(const PlanLayer &layer, std::vector<LayerCost> &times) {
  std::vector<LayerCost> added = layer.exchangingLayers;
  if (added.empty())
    added.push_back(
        {double(layer.forward), double(layer.backward), double(layer.weight)});
  for (LayerCost &one : added)
    for (double *time : {&one.forward, &one.inputGradient, &one.weightGradient,
                         &one.exchange, &one.gradientExchange})
      *time *= picosecond;
  times.insert(times.end(), added.begin(), added.end());
}

void CutJudge::measureTime(JudgedCut &cut) const {
  cut.costs = problem.costs;
  cut.costs.stages.clear();
  for (size_t stage = 0; stage < getStages(); ++stage) {
    StageCost cost = {0, 0, 0, 0};
    std::vector<LayerCost> times;
    size_t end = getEnd(cut.begins, stage);
    for (size_t layer = cut.begins[stage]; layer < end; ++layer) {
      const PlanLayer &one = problem.layers[layer];
      cost.f += one.forward * picosecond;
      cost.b += one.backward * picosecond;
      cost.w += one.weight * picosecond;
      *cost.r += one.getAddedTime(cut.remats[layer]) * picosecond;
      appendTimes(one, times);
    }
    addRoleParts(times, hasWeightTasks, cost);
    if (end < problem.layers.size())
      cost.messageBytes = problem.layers[end].bytesBefore;
    cut.costs.stages.push_back(cost);
  }
  double slowest = 0;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    slowest = std::max(slowest, getUpdateSeconds(cut.begins, rank));
  cut.updateSeconds = problem.updateLatency + slowest;
  cut.stepSeconds = simulateCut(schedule, cut.costs) + cut.updateSeconds;
}

JudgedCut CutJudge::judge(std::vector<size_t> begins) const {
  JudgedCut cut;
  cut.remats = chooseRemats(begins);
  cut.begins = std::move(begins);
  measureMemory(cut);
  measureTime(cut);
  return cut;
}

int64_t JudgedCut::getPeakBytes() const {
  return *llvm::max_element(peakBytes);
}

bool JudgedCut::isBetterThan(const JudgedCut &other) const {
  if (excessBytes != other.excessBytes)
    return excessBytes < other.excessBytes;
  // Sums in another order are no faster.
  return stepSeconds < other.stepSeconds * (1 - 1e-9);
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {
class CutSearcher {
public:
  explicit CutSearcher(const CutSearchProblem &problem)
      : judge(problem), layers(problem.layers.size()), left(problem.budget) {}

  std::optional<JudgedCut> run();

private:
  bool isSmall() const;
  void tryAll();
  void moveBorders();
  bool moveSome();
  bool move(size_t first, size_t last, int64_t by);
  bool consider(std::vector<size_t> begins);
  bool mayGoOn() const { return left >= judge.getActions(); }

  CutJudge judge;
  size_t layers;
  int64_t left;
  JudgedCut best;
  std::set<std::vector<size_t>> known;
};
} // namespace

/// Whether \p begins is the best so far.
bool CutSearcher::consider(std::vector<size_t> begins) {
  if (!mayGoOn() || !known.insert(begins).second)
    return false;
  left -= judge.getActions();
  JudgedCut cut = judge.judge(std::move(begins));
  if (!cut.isBetterThan(best))
    return false;
  best = std::move(cut);
  return true;
}

/// Whether all cuts can be judged.
bool CutSearcher::isSmall() const {
  double cuts = 1;
  for (size_t border = 1; border < judge.getStages(); ++border)
    cuts *= double(layers - border) / border;
  return cuts * judge.getActions() <= left;
}

void CutSearcher::tryAll() {
  size_t stages = judge.getStages();
  std::vector<size_t> begins(stages);
  std::iota(begins.begin(), begins.end(), 0);
  while (true) {
    consider(begins);
    // The last border that can go on does; those behind it follow closely.
    size_t border = stages - 1;
    while (border > 0 && begins[border] == layers - (stages - border))
      --border;
    if (border == 0)
      return;
    ++begins[border];
    std::iota(begins.begin() + border + 1, begins.end(), begins[border] + 1);
  }
}

/// Moves the borders from \p first to \p last, if layers are left for all.
bool CutSearcher::move(size_t first, size_t last, int64_t by) {
  std::vector<size_t> begins = best.begins;
  for (size_t border = first; border <= last; ++border)
    begins[border] += by;
  size_t end = last + 1 < begins.size() ? begins[last + 1] : layers;
  if (begins[first] <= begins[first - 1] || begins[last] >= end)
    return false;
  return consider(std::move(begins));
}

/// Looks for a better cut in the neighbourhood of the best one: borders of
/// neighbours move together. Where there are many, those of all stages before
/// or behind one do.
bool CutSearcher::moveSome() {
  size_t stages = judge.getStages();
  bool triesAll = stages <= 16;
  for (size_t count = 1; count < stages; ++count)
    for (size_t first = 1; first + count <= stages; ++first) {
      size_t last = first + count - 1;
      if (!triesAll && count != 1 && first != 1 && last + 1 != stages)
        continue;
      for (int64_t by : {-1, 1})
        if (move(first, last, by))
          return true;
    }
  return false;
}

void CutSearcher::moveBorders() {
  while (mayGoOn() && moveSome())
    continue;
}

std::optional<JudgedCut> CutSearcher::run() {
  std::optional<JudgedCut> first = judge.findFirst();
  if (!first)
    return std::nullopt;
  best = std::move(*first);
  known.insert(best.begins);
  if (isSmall())
    tryAll();
  else
    moveBorders();
  return std::move(best);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

JudgedCut pipewright::judgeCut(const CutSearchProblem &problem,
                               std::vector<size_t> begins) {
  return CutJudge(problem).judge(std::move(begins));
}

std::optional<JudgedCut>
pipewright::findFirstCut(const CutSearchProblem &problem) {
  return CutJudge(problem).findFirst();
}

std::optional<JudgedCut>
pipewright::searchCut(const CutSearchProblem &problem) {
  return CutSearcher(problem).run();
}
