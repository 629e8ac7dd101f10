//===- BuildingBlock.cpp - Schedules that repeat a pattern
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/BuildingBlock.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <deque>

using namespace llvm;
using namespace pipewright;

namespace {
/// The passes of one micro-batch on one rank, in the order of their inputs,
/// and the gradients for the weights of either chunk.
enum Kind : int64_t { F0, F1, B1, B0, W1, W0, kinds };

struct Pass {
  Kind kind;
  int64_t microbatch;

  bool isForward() const { return kind <= F1; }
  bool isWeight() const { return kind >= W1; }
  bool isInputGradient() const { return kind == B1 || kind == B0; }
  /// The gradient for the weights that a B leaves to do.
  Pass getWeight() const { return {static_cast<Kind>(kind + 2), microbatch}; }
};

/// One rank's passes in slots of one unit of time.
class Lane {
public:
  explicit Lane(int64_t microbatches)
      : microbatches(microbatches), times(kinds * microbatches, -1) {}

  std::optional<Pass> at(int64_t slot) const {
    if (slot >= getLength() || slots[slot] < 0)
      return std::nullopt;
    return Pass{static_cast<Kind>(slots[slot] / microbatches),
                slots[slot] % microbatches};
  }
  int64_t getLength() const { return slots.size(); }
  int64_t getTime(const Pass &pass) const { return times[index(pass)]; }

  void put(const Pass &pass, int64_t slot) {
    if (slot >= getLength())
      slots.resize(slot + 1, -1);
    slots[slot] = index(pass);
    times[index(pass)] = slot;
  }

  /// Takes the pass at \p from to the earlier slot \p to.
  void move(int64_t from, int64_t to) {
    Pass pass = *at(from);
    slots[from] = -1;
    put(pass, to);
    if (pass.isForward())
      for (int64_t slot = to; slot < from; ++slot)
        ++held[slot];
    if (pass.isWeight())
      for (int64_t slot = to + 1; slot <= from; ++slot)
        --held[slot];
  }

  /// Puts the gradients for the weights into the gaps, in the order of B.
  void fillGaps() {
    std::deque<Pass> waiting;
    for (int64_t slot = 0; slot < getLength() || !waiting.empty(); ++slot) {
      if (std::optional<Pass> pass = at(slot)) {
        if (pass->isInputGradient())
          waiting.push_back(pass->getWeight());
      } else if (!waiting.empty()) {
        put(waiting.front(), slot);
        waiting.pop_front();
      }
    }
  }

  /// Counts the activations held in each slot, for move and findSlot.
  void countHeld() {
    held.assign(getLength(), 0);
    int32_t now = 0;
    for (int64_t slot = 0; slot < getLength(); ++slot) {
      std::optional<Pass> pass = at(slot);
      now += pass && pass->isForward();
      held[slot] = now;
      now -= pass && pass->isWeight();
    }
  }

  /// The first free slot from \p first on, but before \p slot, to which the
  /// pass there can move within \p limit; else \p slot.
  int64_t findSlot(int64_t slot, int64_t first, int64_t limit) const {
    if (at(slot)->isForward()) {
      int64_t within = slot;
      while (within > first && held[within - 1] < limit)
        --within;
      first = std::max(first, within);
    }
    while (first < slot && slots[first] >= 0)
      ++first;
    return first;
  }

private:
  int64_t index(const Pass &pass) const {
    return pass.kind * microbatches + pass.microbatch;
  }

  int64_t microbatches;
  /// The pass of each slot, or -1; the slot of each pass.
  std::vector<int32_t> slots, times, held;
};

/// All ranks' lanes.
class Plan {
public:
  Plan(int64_t ranks, int64_t microbatches, int64_t limit)
      : microbatches(microbatches), limit(limit),
        lanes(ranks, Lane(microbatches)) {}

  void repeat(ArrayRef<BuildingBlock> blocks) {
    for (auto [lane, block] : zip_equal(lanes, blocks)) {
      for (int64_t kind = F0; kind <= B0; ++kind)
        for (int64_t mb = 0; mb < microbatches; ++mb)
          lane.put({static_cast<Kind>(kind), mb}, block[kind] + 6 * mb);
      lane.fillGaps();
    }
  }

  /// Moves passes to earlier slots before the last B of the first micro-batch
  /// and after the first F of the last one. In between no slot is free.
  void compact() {
    int64_t length = 0;
    for (Lane &lane : lanes) {
      lane.countHeld();
      length = std::max(length, lane.getLength());
    }
    int64_t steadyFrom = lanes.front().getTime({B0, 0});
    int64_t steadyTo = lanes.front().getTime({F0, microbatches - 1});
    for (int64_t slot = 0; slot < length; ++slot) {
      if (slot == steadyFrom && steadyTo > slot)
        slot = steadyTo;
      for (auto [rank, lane] : enumerate(lanes))
        if (std::optional<Pass> pass = lane.at(slot)) {
          int64_t first = getEarliest(rank, *pass);
          int64_t target = lane.findSlot(slot, first, limit);
          if (target < slot)
            lane.move(slot, target);
        }
    }
  }

  /// The plan in which each rank runs F and B in the order of this one, each
  /// as early as it can, and the gradients for the weights while it waits.
  Plan replay() const;

  /// The sum of all starts: the less, the further work has moved.
  int64_t sumTimes() const {
    int64_t sum = 0;
    for (const Lane &lane : lanes)
      for (int64_t slot = 0; slot < lane.getLength(); ++slot)
        if (lane.at(slot))
          sum += slot;
    return sum;
  }

  void write(Schedule &schedule) const {
    for (auto [rank, lane] : enumerate(lanes))
      for (int64_t slot = 0; slot < lane.getLength(); ++slot)
        if (std::optional<Pass> pass = lane.at(slot))
          schedule.add(rank, makeAction(*pass, rank));
  }

private:
  /// Calls \p function with each pass, and its rank, whose result \p pass
  /// needs, but for the B of a W.
  template <typename FunctionT>
  void forEachInput(int64_t rank, const Pass &pass, FunctionT function) const {
    int64_t neighbour =
        pass.kind == F0 || pass.kind == B1 ? rank - 1 : rank + 1;
    if (neighbour >= 0 && neighbour < static_cast<int64_t>(lanes.size()))
      function(neighbour, pass);
    if (pass.kind != F0)
      function(rank, Pass{static_cast<Kind>(pass.kind - 1), pass.microbatch});
  }

  /// The first slot in which \p pass has its inputs.
  int64_t getEarliest(int64_t rank, const Pass &pass) const {
    int64_t earliest = 0;
    auto follow = [&](int64_t other, const Pass &input) {
      earliest = std::max(earliest, lanes[other].getTime(input) + 1);
    };
    if (pass.isWeight())
      follow(rank, {static_cast<Kind>(pass.kind - 2), pass.microbatch});
    else
      forEachInput(rank, pass, follow);
    if (pass.microbatch > 0)
      follow(rank, {pass.kind, pass.microbatch - 1});
    return earliest;
  }

  Action makeAction(const Pass &pass, int64_t rank) const {
    bool isFirst = pass.kind == F0 || pass.kind == B0 || pass.kind == W0;
    int64_t stage = isFirst ? rank : 2 * lanes.size() - 1 - rank;
    ActionKind kind = pass.isForward()  ? ActionKind::F
                      : pass.isWeight() ? ActionKind::W
                                        : ActionKind::B;
    return {kind, stage, pass.microbatch};
  }

  int64_t microbatches, limit;
  std::vector<Lane> lanes;

  friend class Replay;
};

/// Plan::replay at work.
class Replay {
public:
  Replay(const Plan &plan)
      : plan(plan), result(plan.lanes.size(), plan.microbatches, plan.limit),
        ranks(plan.lanes.size()) {}

  Plan run() {
    int64_t left = kinds * plan.microbatches * ranks.size();
    for (int64_t slot = 0; left > 0; ++slot)
      for (int64_t rank = 0; rank < static_cast<int64_t>(ranks.size()); ++rank)
        left -= runSlot(rank, slot);
    return std::move(result);
  }

private:
  struct Rank {
    /// The slot of the plan that is next.
    int64_t next = 0;
    int64_t held = 0;
    std::deque<Pass> waiting;
  };

  /// Returns whether the rank found something to do.
  bool runSlot(int64_t index, int64_t slot) {
    Rank &rank = ranks[index];
    const Lane &lane = plan.lanes[index];
    while (rank.next < lane.getLength() &&
           (!lane.at(rank.next) || lane.at(rank.next)->isWeight()))
      ++rank.next;
    std::optional<Pass> pass = lane.at(rank.next);
    if (pass && canStart(index, *pass, slot)) {
      result.lanes[index].put(*pass, slot);
      rank.held += pass->isForward();
      if (pass->isInputGradient())
        rank.waiting.push_back(pass->getWeight());
      ++rank.next;
      return true;
    }
    if (rank.waiting.empty())
      return false;
    result.lanes[index].put(rank.waiting.front(), slot);
    rank.waiting.pop_front();
    --rank.held;
    return true;
  }

  bool canStart(int64_t index, const Pass &pass, int64_t slot) const {
    if (pass.isForward() && ranks[index].held == plan.limit)
      return false;
    bool isReady = true;
    plan.forEachInput(index, pass, [&](int64_t rank, const Pass &input) {
      int64_t time = result.lanes[rank].getTime(input);
      isReady &= time >= 0 && time < slot;
    });
    return isReady;
  }

  const Plan &plan;
  Plan result;
  std::vector<Rank> ranks;
};
} // namespace

Plan Plan::replay() const { return Replay(*this).run(); }

Schedule pipewright::repeatBlocks(const ScheduleShape &shape,
                                  const std::vector<BuildingBlock> &blocks,
                                  int64_t limit) {
  Plan best(shape.ranks, shape.microbatches, limit);
  best.repeat(blocks);
  // Each round frees slots for the next one. A gain takes about one round per
  // three ranks; large plans, which take long, make do with part of it.
  int64_t passes = kinds * shape.ranks * shape.microbatches;
  Plan next = best;
  for (int64_t rounds = 2 + maxWork / passes; rounds > 0; --rounds) {
    next.compact();
    next = next.replay();
    if (next.sumTimes() >= best.sumTimes())
      break;
    best = next;
  }
  Schedule schedule(shape, placeInWaves(shape.ranks, shape.chunks));
  best.write(schedule);
  return schedule;
}
