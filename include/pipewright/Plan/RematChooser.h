//===- RematChooser.h - The cheapest recomputation that fits ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A knapsack: each layer has a few policies, which hold so many bytes and add
// so much time. Dynamic programming over the layers keeps the combinations that
// no other one beats in both (Nemhauser and Ullmann, Management Science 15,
// 1969). Layers that are alike have few of them.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PLAN_REMATCHOOSER_H
#define PIPEWRIGHT_PLAN_REMATCHOOSER_H

#include "pipewright/Plan/PlanLayer.h"

#include <limits>
#include <optional>

namespace pipewright {

/// For how many micro-batches a stage holds at once what it keeps, and what it
/// has computed again.
struct InFlight {
  int64_t kept = 1;
  int64_t recomputed = 1;
};

class RematChooser {
public:
  /// Of more than \p mostPoints combinations that matter it keeps a selection.
  /// \p keepsHistory: getPolicies will be asked.
  explicit RematChooser(RematSet allowed, bool keepsHistory = false,
                        size_t mostPoints = 4096);

  /// Forgets, from now on, combinations that hold more bytes or add more time:
  /// the layers to come do not make them less.
  void setLimits(int64_t bytes, int64_t time) {
    mostBytes = bytes;
    mostTime = time;
  }

  /// Adds a layer behind those that are there; \p entersStage: as the first
  /// one of its stage.
  void append(const PlanLayer &layer, const InFlight &inFlight,
              bool entersStage);

  /// The least time that must be added for the layers to hold \p limit bytes at
  /// most; nothing if they cannot.
  std::optional<int64_t> getLeastTime(int64_t limit) const;

  /// The fewest bytes that the layers can hold, if no limits were set.
  int64_t getLeastBytes() const { return levels.back().front().bytes; }

  /// A policy for each layer, as getLeastTime has them.
  std::vector<Remat> getPolicies(int64_t limit) const;

  /// Whether all combinations that matter were kept. If not, only the smallest
  /// and the fastest are sure to be found.
  bool isExact() const { return exact; }

private:
  /// A combination of policies: none of a level is as small and as fast as
  /// another one with the same last policy.
  struct Point {
    int64_t bytes, time;
    /// Of the last layer, and of the level before.
    Remat remat;
    uint32_t previous;
  };
  using Level = std::vector<Point>;

  Level extend(const PlanLayer &layer, Remat remat, const InFlight &inFlight,
               bool entersStage) const;
  void thin(Level &level);
  const Point *findBest(int64_t limit) const;

  RematSet allowed;
  bool keepsHistory, exact = true;
  size_t mostPoints;
  int64_t mostBytes = std::numeric_limits<int64_t>::max();
  int64_t mostTime = std::numeric_limits<int64_t>::max();
  /// After each layer, or only after the last one.
  std::vector<Level> levels;
};

} // namespace pipewright

#endif // PIPEWRIGHT_PLAN_REMATCHOOSER_H
