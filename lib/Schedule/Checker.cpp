//===- Checker.cpp - Can a schedule be trusted?
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Checker.h"

#include "MessageRules.h"

#include "pipewright/Schedule/Communication.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <map>

using namespace llvm;
using namespace pipewright;

StringRef pipewright::getName(Rule rule) {
  static constexpr StringLiteral names[] = {"S1", "S2", "S3", "S4",
                                            "S5", "S6", "S7", "S8"};
  return names[static_cast<size_t>(rule)];
}

namespace {
class Checker {
public:
  Checker(const Schedule &schedule, const CheckOptions &options)
      : schedule(schedule), options(options), values(schedule) {}

  std::vector<Violation> run();

private:
  /// Where an action stands.
  struct Place {
    int64_t rank = -1;
    int64_t action = -1;
    bool exists() const { return rank >= 0; }
  };
  /// The places of F, B, W, BW and R of one stage and micro-batch.
  using Work = std::array<Place, 5>;

  /// Per value, whether a rank holds it and whether it has sent it.
  struct Memory {
    std::vector<bool> available;
    std::vector<bool> sent;
  };

  void checkExistence();
  bool hasOtherEnd(const Action &action) const;
  void collectWork();
  void checkOnce();
  void checkRoles(const Action &where, const Work &work);
  void checkBackward(const Action &where, const Work &work);
  void checkPlacement();
  void checkOrderOfRoles();
  void checkAvailability();
  void reportUnavailable(int64_t rank, int64_t index, int64_t value);
  void checkTransferAvailability(int64_t rank, int64_t index,
                                 const Action &part, Memory &memory);
  void checkMemory();
  void checkUpdates();
  void checkGradientOrder(int64_t rank);

  Work &getWork(const Action &action) {
    return works[values.activation(action.stage, action) / 2];
  }
  /// Calls \p function with each part of each action, its rank and position.
  void walk(function_ref<void(const Action &, int64_t, int64_t)> function);
  std::string describeAt(int64_t rank, int64_t action) const {
    return describe(schedule.getActions(rank)[action]);
  }
  void report(Rule rule, int64_t rank, int64_t action, const Twine &message,
              std::vector<Violation::Note> notes = {}) {
    violations.push_back({rule, rank, action, message.str(), std::move(notes)});
  }
  bool hasTransfers() const;

  const Schedule &schedule;
  const CheckOptions &options;
  ValueNumbering values;
  std::vector<Work> works;
  std::vector<Violation> violations;
};
} // namespace

std::vector<Violation> Checker::run() {
  checkExistence();
  if (!violations.empty())
    return std::move(violations);
  collectWork();
  checkOnce();
  checkPlacement();
  if (!violations.empty())
    return std::move(violations);
  checkOrderOfRoles();
  if (hasTransfers())
    checkAvailability();
  checkMemory();
  checkUpdates();
  if (!violations.empty())
    return std::move(violations);
  return hasTransfers() ? checkMessages(schedule, options)
                        : checkOrdersAgree(schedule);
}

void Checker::walk(
    function_ref<void(const Action &, int64_t, int64_t)> function) {
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    for (auto [index, action] : enumerate(schedule.getActions(rank)))
      forEachPart(action, [&, index = index](const Action &part) {
        function(part, rank, index);
      });
}

bool Checker::hasTransfers() const {
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    for (const Action &action : schedule.getActions(rank))
      if (action.isTransfer() || action.kind == ActionKind::Group)
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// S1: each stage meets each micro-batch exactly once
//===----------------------------------------------------------------------===//

bool Checker::hasOtherEnd(const Action &action) const {
  bool isNext =
      action.kind == ActionKind::SendF || action.kind == ActionKind::RecvB;
  return isNext ? action.stage + 1 < schedule.getStages() : action.stage > 0;
}

void Checker::checkExistence() {
  walk([&](const Action &action, int64_t rank, int64_t index) {
    if (action.kind == ActionKind::Step)
      return;
    if (!schedule.contains(action))
      report(Rule::S1, rank, index,
             describe(action) + " does not exist; there are " +
                 Twine(schedule.getStages()) + " stages and " +
                 Twine(schedule.getMicrobatches()) +
                 " micro-batches in each of " +
                 Twine(schedule.getDirections()) + " directions");
    else if (action.isTransfer() && !hasOtherEnd(action))
      report(Rule::S4, rank, index,
             describe(action) + " has no other end; stages are 0 to " +
                 Twine(schedule.getStages() - 1));
  });
}

void Checker::collectWork() {
  works.resize(values.size() / 2);
  walk([&](const Action &action, int64_t rank, int64_t index) {
    if (!action.isCompute())
      return;
    Place &place = getWork(action)[static_cast<size_t>(action.kind)];
    if (place.exists())
      report(Rule::S1, rank, index, describe(action) + " runs twice",
             {{place.rank, place.action, "the first time is here"}});
    else
      place = {rank, index};
  });
}

void Checker::checkOnce() {
  for (int64_t direction = 0; direction < schedule.getDirections(); ++direction)
    for (int64_t stage = 0; stage < schedule.getStages(); ++stage)
      for (int64_t mb = 0; mb < schedule.getMicrobatches(); ++mb) {
        Action where = {ActionKind::F, stage, mb, direction};
        const Work &work = getWork(where);
        if (!options.roles.empty())
          checkRoles(where, work);
        else
          checkBackward(where, work);
      }
}

/// Each of the stage's roles runs; no other one does.
void Checker::checkRoles(const Action &where, const Work &work) {
  int64_t owner = schedule.getRank(where.stage, where.direction);
  for (auto [kind, place] : enumerate(work)) {
    Action action = where;
    action.kind = static_cast<ActionKind>(kind);
    bool expected = is_contained(options.roles[where.stage], action.kind);
    if (expected && !place.exists())
      report(Rule::S1, owner, -1, describe(action) + " never runs");
    else if (!expected && place.exists())
      report(Rule::S1, place.rank, place.action,
             describe(action) + " runs, but the stage has no such task");
  }
}

/// F runs, and either BW or both B and W.
void Checker::checkBackward(const Action &where, const Work &work) {
  auto place = [&](ActionKind kind) { return work[static_cast<size_t>(kind)]; };
  int64_t owner = schedule.getRank(where.stage, where.direction);
  auto missing = [&](ActionKind kind) {
    Action action = where;
    action.kind = kind;
    report(Rule::S1, owner, -1, describe(action) + " never runs");
  };
  if (!place(ActionKind::F).exists())
    missing(ActionKind::F);
  if (schedule.isForwardOnly())
    return;
  bool hasB = place(ActionKind::B).exists();
  bool hasW = place(ActionKind::W).exists();
  Place full = place(ActionKind::BW);
  if (!full.exists()) {
    if (!hasB && !hasW)
      missing(ActionKind::BW);
    else if (hasB != hasW)
      missing(hasB ? ActionKind::W : ActionKind::B);
  } else if (hasB || hasW) {
    Place second = place(hasB ? ActionKind::B : ActionKind::W);
    report(Rule::S1, second.rank, second.action,
           describeAt(second.rank, second.action) +
               " repeats a part of the full backward",
           {{full.rank, full.action, "the full backward is here"}});
  }
}

//===----------------------------------------------------------------------===//
// S2: each action is on the rank that holds its stage
//===----------------------------------------------------------------------===//

void Checker::checkPlacement() {
  walk([&](const Action &action, int64_t rank, int64_t index) {
    if (action.kind == ActionKind::Step)
      return;
    int64_t owner = schedule.getRank(action.stage, action.direction);
    if (owner != rank)
      report(Rule::S2, rank, index,
             describe(action) + " is on rank " + Twine(rank) + ", but rank " +
                 Twine(owner) + " holds the stage");
  });
}

//===----------------------------------------------------------------------===//
// S3: an action comes after what it needs
//===----------------------------------------------------------------------===//

void Checker::checkOrderOfRoles() {
  constexpr ActionKind order[] = {ActionKind::F, ActionKind::R, ActionKind::B,
                                  ActionKind::BW, ActionKind::W};
  walk([&](const Action &action, int64_t rank, int64_t index) {
    if (!action.isCompute())
      return;
    for (ActionKind earlier : order) {
      if (earlier == action.kind)
        return;
      Place place = getWork(action)[static_cast<size_t>(earlier)];
      if (!place.exists() || place.action < index)
        continue;
      Action needed = action;
      needed.kind = earlier;
      report(Rule::S3, rank, index,
             describe(action) + " does not run after " + describe(needed),
             {{rank, place.action, "which is here"}});
      return;
    }
  });
}

/// With transfers in the schedule, every value must be in the rank's memory
/// when it is used or sent.
void Checker::checkAvailability() {
  CostModel noCosts;
  noCosts.stages.resize(schedule.getStages());
  TaskGraph graph = buildTaskGraph(schedule, noCosts);
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    Memory memory = {std::vector<bool>(values.size()),
                     std::vector<bool>(values.size())};
    size_t task = 0;
    for (auto [index, action] : enumerate(schedule.getActions(rank))) {
      if (action.isCompute()) {
        const TaskGraph::Task &next = graph.ranks[rank][task++];
        for (int64_t use : next.uses)
          if (!memory.available[use])
            reportUnavailable(rank, index, use);
        for (int64_t made : next.makes)
          memory.available[made] = true;
        continue;
      }
      if (action.kind != ActionKind::Step)
        forEachPart(action, [&, index = index](const Action &part) {
          checkTransferAvailability(rank, index, part, memory);
        });
    }
  }
}

void Checker::reportUnavailable(int64_t rank, int64_t index, int64_t value) {
  Action maker = values.transfer(value, /*isSend=*/true);
  int64_t source = schedule.getRank(maker.stage, maker.direction);
  bool isActivation = maker.kind == ActionKind::SendF;
  if (source == rank) {
    report(Rule::S3, rank, index,
           describeAt(rank, index) + " comes before the " +
               (isActivation ? "forward" : "backward") + " of stage " +
               Twine(maker.stage) + ", whose result it needs");
    return;
  }
  Action receive = values.transfer(value, /*isSend=*/false);
  report(Rule::S3, rank, index,
         describeAt(rank, index) + " comes before " + describe(receive) +
             ", or without it");
}

void Checker::checkTransferAvailability(int64_t rank, int64_t index,
                                        const Action &part, Memory &memory) {
  int64_t value = values.message(part);
  if (!part.isSend()) {
    if (memory.available[value])
      report(Rule::S4, rank, index,
             describe(part) + " receives what the rank holds already");
    memory.available[value] = true;
    return;
  }
  if (!memory.available[value])
    reportUnavailable(rank, index, value);
  if (memory.sent[value])
    report(Rule::S4, rank, index,
           describe(part) + " sends what was sent already");
  memory.sent[value] = true;
}

//===----------------------------------------------------------------------===//
// S6: peak activations stay under the limit
//===----------------------------------------------------------------------===//

void Checker::checkMemory() {
  if (!options.memoryLimit)
    return;
  for (auto [rank, peak] : enumerate(getPeakActivations(schedule)))
    if (peak > *options.memoryLimit) {
      std::string message;
      raw_string_ostream(message)
          << format("holds the activations of %g micro-batches; the limit is "
                    "%g",
                    peak, *options.memoryLimit);
      report(Rule::S6, rank, -1, message);
    }
}

//===----------------------------------------------------------------------===//
// S7: gradients are complete, and added in order, before the update
//===----------------------------------------------------------------------===//

void Checker::checkUpdates() {
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    checkGradientOrder(rank);
    ArrayRef<Action> actions = schedule.getActions(rank);
    for (auto [index, action] : enumerate(actions)) {
      if (action.kind != ActionKind::Step || index + 1 == actions.size())
        continue;
      report(Rule::S7, rank, index,
             "the update comes before " + describe(actions[index + 1]) +
                 "; it must be the last action",
             {{rank, static_cast<int64_t>(index) + 1, "which is here"}});
    }
  }
}

void Checker::checkGradientOrder(int64_t rank) {
  // Per direction and stage, the action that added last.
  std::map<std::pair<int64_t, int64_t>, std::pair<int64_t, int64_t>> last;
  for (auto [index, action] : enumerate(schedule.getActions(rank)))
    forEachPart(action, [&, index = index](const Action &part) {
      if (!part.isWeightGradient())
        return;
      auto [found, isFirst] = last.try_emplace({part.direction, part.stage},
                                               part.microbatch, index);
      if (!isFirst && found->second.first > part.microbatch)
        report(Rule::S7, rank, index,
               describe(part) + " comes after that of micro-batch " +
                   Twine(found->second.first) +
                   "; weight gradients are added in the order of "
                   "micro-batches",
               {{rank, found->second.second, "which is here"}});
      found->second = {part.microbatch, index};
    });
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

std::vector<Violation> pipewright::checkSchedule(const Schedule &schedule,
                                                 const CheckOptions &options) {
  return Checker(schedule, options).run();
}

std::string pipewright::toString(ArrayRef<Violation> violations) {
  std::string text;
  raw_string_ostream os(text);
  auto printPlace = [&](int64_t rank, int64_t action) {
    os << "rank " << rank;
    if (action >= 0)
      os << ", action " << action;
  };
  for (const Violation &violation : violations) {
    os << getName(violation.rule) << ": ";
    printPlace(violation.rank, violation.action);
    os << ": " << violation.message << '\n';
    for (const Violation::Note &note : violation.notes) {
      os << "  note: ";
      printPlace(note.rank, note.action);
      os << ": " << note.message << '\n';
    }
  }
  return text;
}
