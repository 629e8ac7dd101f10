//===- Partition.cpp - Cut a row of layers into stages
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Stages/Partition.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <tuple>
#include <vector>

using namespace pipewright;
using llvm::SmallVector;

namespace {
/// What is minimized once the maximum is fixed. Weights are picoseconds at
/// most, so a sum of squares needs more than 64 bits.
struct Cost {
  unsigned __int128 squares = 0;
  int64_t bytes = 0;

  bool operator<(const Cost &other) const {
    return std::tie(squares, bytes) < std::tie(other.squares, other.bytes);
  }
};

/// Where the next stage may begin after some stages, and what the best cut of
/// the layers before costs; none where there is no cut.
struct Row {
  size_t first = 0;
  std::vector<std::optional<Cost>> costs;
};

/// Two steps: the smallest maximum is found by bisection, and then the best cut
/// within it by dynamic programming over the stages.
class Partitioner {
public:
  explicit Partitioner(const PartitionProblem &problem);
  SmallVector<size_t> run();

private:
  int64_t findSmallestMaximum() const;
  bool isPossible(int64_t maximum) const;
  void boundEnds(int64_t maximum);
  bool isSmall() const;

  Row cutStage(size_t stage, const Row &before);
  void cutEach(size_t stage, const Row &before, Row &row);
  void cutByHalves(size_t stage, const Row &before, Row &row, size_t begin,
                   size_t end, size_t firstChoice, size_t lastChoice);
  void cutAt(size_t stage, const Row &before, Row &row, size_t end,
             size_t firstChoice, size_t lastChoice);

  int64_t weigh(size_t begin, size_t end) const {
    return sums[end] - sums[begin];
  }
  /// The end of the longest stage from \p begin on.
  size_t getFarthestEnd(size_t begin, int64_t maximum) const {
    auto end = std::upper_bound(sums.begin() + begin, sums.end(),
                                sums[begin] + maximum);
    return std::min(size_t(end - sums.begin() - 1), nextStart[begin]);
  }

  const PartitionProblem &problem;
  size_t layers;
  /// Of the weights before each layer.
  std::vector<int64_t> sums;
  /// The first layer after each layer at which a stage must begin.
  std::vector<size_t> nextStart;
  /// The first layer of the longest stage up to each layer, within the maximum.
  std::vector<size_t> farthestBegin;
  /// Where a cut may be after as many stages, within the maximum.
  std::vector<size_t> firstEnd, lastEnd;
  bool triesAll = true;
  /// The first layer of the stage that ends there, for each stage.
  std::vector<std::vector<uint32_t>> begins;
};
} // namespace

Partitioner::Partitioner(const PartitionProblem &problem)
    : problem(problem), layers(problem.weights.size()), sums(layers + 1, 0),
      nextStart(layers, layers), farthestBegin(layers + 1, 0) {
  for (size_t layer = 0; layer < layers; ++layer) {
    sums[layer + 1] = sums[layer] + problem.weights[layer];
    auto *next = llvm::upper_bound(problem.starts, layer);
    if (next != problem.starts.end())
      nextStart[layer] = *next;
  }
}

//===----------------------------------------------------------------------===//
// The smallest maximum
//===----------------------------------------------------------------------===//

/// Fewer stages than asked for will do: there are enough layers to cut some of
/// them again.
bool Partitioner::isPossible(int64_t maximum) const {
  size_t begin = 0;
  for (size_t stage = 0; stage < problem.stages && begin < layers; ++stage) {
    size_t end = getFarthestEnd(begin, maximum);
    if (end == begin)
      return false;
    begin = end;
  }
  return begin == layers;
}

int64_t Partitioner::findSmallestMaximum() const {
  int64_t low = *llvm::max_element(problem.weights), high = sums[layers];
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (isPossible(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

//===----------------------------------------------------------------------===//
// The best cut
//===----------------------------------------------------------------------===//

/// The longest stages from the front, and from the back, leave room between
/// them for each cut.
void Partitioner::boundEnds(int64_t maximum) {
  for (size_t begin = 0, end = 1; end <= layers; ++end) {
    while (weigh(begin, end) > maximum || end > nextStart[begin])
      ++begin;
    farthestBegin[end] = begin;
  }
  size_t stages = problem.stages;
  firstEnd.assign(stages + 1, 0);
  lastEnd.assign(stages + 1, 0);
  for (size_t stage = 1; stage <= stages; ++stage) {
    size_t begin = lastEnd[stage - 1];
    size_t end = begin < layers ? getFarthestEnd(begin, maximum) : layers;
    lastEnd[stage] = std::min(end, layers - (stages - stage));
  }
  firstEnd[stages] = layers;
  for (size_t stage = stages; stage > 0; --stage)
    firstEnd[stage - 1] = std::max(farthestBegin[firstEnd[stage]], stage - 1);
  firstEnd[0] = 0;
}

/// Whether each stage can be tried at each place.
bool Partitioner::isSmall() const {
  constexpr size_t most = size_t(1) << 26;
  size_t longest = 0, places = 0;
  for (size_t end = 1; end <= layers; ++end)
    longest = std::max(longest, end - farthestBegin[end]);
  for (auto [first, last] : llvm::zip_equal(firstEnd, lastEnd))
    places += last - first + 1;
  return places <= most / longest;
}

/// Finds the best begin, of those from \p firstChoice to \p lastChoice, of a
/// stage up to \p end.
void Partitioner::cutAt(size_t stage, const Row &before, Row &row, size_t end,
                        size_t firstChoice, size_t lastChoice) {
  std::optional<Cost> &best = row.costs[end - row.first];
  firstChoice = std::max({firstChoice, farthestBegin[end], before.first});
  lastChoice =
      std::min({lastChoice, end - 1, before.first + before.costs.size() - 1});
  for (size_t begin = firstChoice; begin <= lastChoice; ++begin) {
    std::optional<Cost> cost = before.costs[begin - before.first];
    if (!cost)
      continue;
    auto weight = static_cast<unsigned __int128>(weigh(begin, end));
    cost->squares += weight * weight;
    if (begin != 0 && !problem.bytesBefore.empty())
      cost->bytes += problem.bytesBefore[begin];
    if (best && !(*cost < *best))
      continue;
    best = cost;
    begins[stage][end - row.first] = begin;
  }
}

void Partitioner::cutEach(size_t stage, const Row &before, Row &row) {
  for (size_t i = 0; i < row.costs.size(); ++i)
    cutAt(stage, before, row, row.first + i, 0, layers);
}

/// Squares of sums are a Monge array: the best begin does not go back where the
/// end goes on. So the one in the middle bounds those of both halves, [begin,
/// end). Which of equal sums crosses with fewer bytes is then not told for all.
void Partitioner::cutByHalves(size_t stage, const Row &before, Row &row,
                              size_t begin, size_t end, size_t firstChoice,
                              size_t lastChoice) {
  if (begin >= end)
    return;
  size_t middle = begin + (end - begin) / 2;
  cutAt(stage, before, row, middle, firstChoice, lastChoice);
  size_t choice = begins[stage][middle - row.first];
  bool isReached = row.costs[middle - row.first].has_value();
  cutByHalves(stage, before, row, begin, middle, firstChoice,
              isReached ? choice : lastChoice);
  cutByHalves(stage, before, row, middle + 1, end,
              isReached ? choice : firstChoice, lastChoice);
}

Row Partitioner::cutStage(size_t stage, const Row &before) {
  Row row;
  row.first = firstEnd[stage + 1];
  row.costs.resize(lastEnd[stage + 1] - row.first + 1);
  begins[stage].resize(row.costs.size());
  if (triesAll)
    cutEach(stage, before, row);
  else
    cutByHalves(stage, before, row, row.first, row.first + row.costs.size(), 0,
                layers);
  return row;
}

SmallVector<size_t> Partitioner::run() {
  boundEnds(findSmallestMaximum());
  // Without bytes, what halves tell is all.
  triesAll = !problem.bytesBefore.empty() && isSmall();
  begins.resize(problem.stages);
  Row row;
  row.costs.push_back(Cost());
  for (size_t stage = 0; stage < problem.stages; ++stage)
    row = cutStage(stage, row);
  SmallVector<size_t> cut(problem.stages);
  size_t end = layers;
  for (size_t stage = problem.stages; stage > 0; --stage) {
    end = begins[stage - 1][end - firstEnd[stage]];
    cut[stage - 1] = end;
  }
  return cut;
}

llvm::Expected<SmallVector<size_t>>
pipewright::partitionLayers(const PartitionProblem &problem) {
  if (problem.weights.size() < problem.stages)
    return llvm::createStringError(
        "cannot cut %zu layers into %zu stages: each needs a layer",
        problem.weights.size(), problem.stages);
  if (problem.starts.size() >= problem.stages)
    return llvm::createStringError(
        "cannot begin a stage at %zu layers beside the first one with %zu "
        "stages",
        problem.starts.size(), problem.stages);
  return Partitioner(problem).run();
}
