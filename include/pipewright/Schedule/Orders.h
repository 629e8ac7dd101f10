//===- Orders.h - Orders that several schedules share -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generators are made of these. An order may go beyond the micro-batches of
// its schedule, where its rule is simple for whole groups only: work on those
// that do not exist is left out, which leaves a valid schedule valid.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_ORDERS_H
#define PIPEWRIGHT_SCHEDULE_ORDERS_H

#include "pipewright/Schedule/ScheduleRegistry.h"

namespace pipewright {

/// One stage's work on one micro-batch.
struct Unit {
  int64_t stage;
  int64_t microbatch;
};

/// The units of one rank, in the order of their forwards and in that of their
/// backwards.
struct UnitLists {
  std::vector<Unit> forwards;
  std::vector<Unit> backwards;
};

/// The units of \p rank with several chunks: \p groups of so many
/// micro-batches, all of one group on one chunk, then on the next; backwards
/// begin at the last chunk.
UnitLists listInterleaved(const ScheduleShape &shape, int64_t rank,
                          llvm::ArrayRef<int64_t> groups);

/// How a rank alternates: `warmup` forwards (or as many as there are), then a
/// backward and a forward in turn, then the backwards that are left. Backwards
/// are full ones, unless there is a `weightDelay`: then they are those for the
/// inputs alone, and the one for the weights follows after as many further
/// backwards, or at the end.
struct Alternation {
  int64_t warmup;
  std::optional<int64_t> weightDelay = std::nullopt;
};

/// Adds \p units to \p rank as \p alternation says.
void addAlternating(Schedule &schedule, int64_t rank, const UnitLists &units,
                    const Alternation &alternation);

/// What tells schedules that alternate apart: the alternation of each rank.
using AlternationRule = llvm::function_ref<Alternation(int64_t rank)>;

/// A schedule with one chunk per rank, whose micro-batches come first to last.
/// Refuses other numbers of chunks.
llvm::Expected<Schedule> buildAlternating(const ScheduleRequest &request,
                                          AlternationRule rule);

/// A schedule with any number of chunks, on which listInterleaved spreads the
/// micro-batches. Its ranks run the forwards of the first group on all chunks
/// but the last in addition to those that \p rule says.
///
/// Groups are of ScheduleRequest::group micro-batches but for the last, or as
/// equal and as small as they can be. None is below the number of ranks, or a
/// micro-batch could reach the next chunk before the group is through with this
/// one, and ranks would wait for each other; so the last may go beyond the
/// micro-batches that there are. Refuses a size below the number of ranks, or
/// above all micro-batches.
llvm::Expected<Schedule> buildInterleaved(const ScheduleRequest &request,
                                          AlternationRule rule);

/// A stage of one direction as its rank sees it: each kind of work meets the
/// micro-batches first to last, so an order need not name them.
class StageLane {
public:
  explicit StageLane(int64_t stage, int64_t direction = 0)
      : stage(stage), direction(direction) {}

  Action forward() { return make(ActionKind::F, forwards); }
  Action inputGradient() { return make(ActionKind::B, backwards); }
  Action weightGradient() { return make(ActionKind::W, weightGradients); }
  /// The full backward, BW.
  Action backward() {
    ++weightGradients;
    return make(ActionKind::BW, backwards);
  }

  int64_t getForwards() const { return forwards; }
  int64_t getBackwards() const { return backwards; }
  int64_t getWeightGradients() const { return weightGradients; }

private:
  Action make(ActionKind kind, int64_t &count) {
    return {kind, stage, count++, direction};
  }

  int64_t stage, direction;
  int64_t forwards = 0, backwards = 0, weightGradients = 0;
};

/// Adds actions to one rank, without those on micro-batches that do not exist.
class LaneWriter {
public:
  LaneWriter(Schedule &schedule, int64_t rank)
      : schedule(schedule), rank(rank) {}

  void add(std::initializer_list<Action> actions) {
    for (const Action &action : actions)
      if (schedule.contains(action))
        schedule.add(rank, action);
  }

private:
  Schedule &schedule;
  int64_t rank;
};

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_ORDERS_H
