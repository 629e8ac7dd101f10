//===- Partition.cpp - Cut a row of layers into stages
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Stages/Partition.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

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

/// Both optimizations walk over the same cuts: `best[i]` is the best way to
/// cut the first i layers into the stages seen so far.
class Partitioner {
public:
  explicit Partitioner(const PartitionProblem &problem);
  SmallVector<size_t> run();

private:
  int64_t findSmallestMaximum() const;
  SmallVector<size_t> findBestCut(int64_t maximum) const;
  /// Whether the layers [begin, end) may be one stage.
  bool mayBeStage(size_t begin, size_t end) const {
    return end <= nextStart[begin];
  }
  int64_t weigh(size_t begin, size_t end) const {
    return sums[end] - sums[begin];
  }

  const PartitionProblem &problem;
  size_t layers;
  /// Of the weights before each layer.
  SmallVector<int64_t> sums;
  /// The first layer after each layer at which a stage must begin.
  SmallVector<size_t> nextStart;
};
} // namespace

Partitioner::Partitioner(const PartitionProblem &problem)
    : problem(problem), layers(problem.weights.size()), sums(layers + 1, 0),
      nextStart(layers, layers) {
  for (size_t layer = 0; layer < layers; ++layer) {
    sums[layer + 1] = sums[layer] + problem.weights[layer];
    auto *next = llvm::upper_bound(problem.starts, layer);
    if (next != problem.starts.end())
      nextStart[layer] = *next;
  }
}

int64_t Partitioner::findSmallestMaximum() const {
  constexpr int64_t none = std::numeric_limits<int64_t>::max();
  SmallVector<int64_t> best(layers + 1, none);
  best[0] = 0;
  for (size_t stage = 0; stage < problem.stages; ++stage) {
    SmallVector<int64_t> next(layers + 1, none);
    for (size_t begin = 0; begin < layers; ++begin)
      for (size_t end = begin + 1; end <= layers && mayBeStage(begin, end);
           ++end)
        if (best[begin] != none)
          next[end] =
              std::min(next[end], std::max(best[begin], weigh(begin, end)));
    best = std::move(next);
  }
  return best[layers];
}

SmallVector<size_t> Partitioner::findBestCut(int64_t maximum) const {
  struct State {
    bool isReached = false;
    Cost cost;
    size_t begin = 0;
  };
  SmallVector<SmallVector<State>> table(problem.stages + 1,
                                        SmallVector<State>(layers + 1));
  table[0][0].isReached = true;
  for (size_t stage = 0; stage < problem.stages; ++stage)
    for (size_t begin = 0; begin < layers; ++begin) {
      const State &from = table[stage][begin];
      if (!from.isReached)
        continue;
      for (size_t end = begin + 1; end <= layers && mayBeStage(begin, end) &&
                                   weigh(begin, end) <= maximum;
           ++end) {
        Cost cost = from.cost;
        auto weight = static_cast<unsigned __int128>(weigh(begin, end));
        cost.squares += weight * weight;
        if (begin != 0 && !problem.bytesBefore.empty())
          cost.bytes += problem.bytesBefore[begin];
        State &to = table[stage + 1][end];
        if (!to.isReached || cost < to.cost)
          to = {/*isReached=*/true, cost, begin};
      }
    }
  SmallVector<size_t> begins(problem.stages);
  size_t end = layers;
  for (size_t stage = problem.stages; stage > 0; --stage) {
    end = table[stage][end].begin;
    begins[stage - 1] = end;
  }
  return begins;
}

SmallVector<size_t> Partitioner::run() {
  return findBestCut(findSmallestMaximum());
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
