//===- Checker.cpp - Can a schedule be trusted?
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Checker.h"

#include "MessageRules.h"
#include "ParallelRanks.h"
#include "ScheduleTasks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <atomic>
#include <mutex>

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
      : schedule(schedule), options(options), flow(schedule),
        withTransfers(hasTransfers(schedule)), found(schedule.getRanks()) {}

  std::vector<Violation> run();

private:
  /// Where an action stands.
  struct Place {
    int64_t rank = -1;
    int64_t action = -1;
  };
  /// F, B, W, BW and R of one stage and micro-batch: bit k is kind number k.
  using Work = uint8_t;
  /// The first place of each of them, which only diagnostics ask for.
  using Places = std::array<Place, 5>;

  /// What added last to the gradients of a stage.
  struct Addition {
    int64_t microbatch = -1;
    int64_t action = -1;
  };

  /// What its maker did with a value: bits.
  enum ValueState : uint8_t { Made = 1, Sent = 2 };

  /// Calls \p check with each rank; ranks must not touch the same memory if it
  /// is \p inParallel. Returns what was reported, by rule and then by rank.
  template <typename CheckT>
  std::vector<Violation> checkRanks(bool inParallel, CheckT check);
  void prepare();

  void checkExistence(int64_t rank);
  bool hasOtherEnd(const Action &action) const;
  void collectWork(int64_t rank);
  void checkOnce(int64_t rank);
  void checkRoles(const Action &where, Work work);
  void checkBackward(const Action &where, Work work);
  void reportMissing(const Action &action);
  void checkPlacement(int64_t rank);
  void checkOrderOfRoles(int64_t rank);
  void checkComesAfter(const Action &part, int64_t rank, int64_t index);
  void checkAvailability(int64_t rank);
  void reportUnavailable(int64_t rank, int64_t index, int64_t value);
  void checkTransferAvailability(int64_t rank, int64_t index,
                                 const Action &part);
  void checkMemory();
  void checkUpdates(int64_t rank);
  void checkAddition(const Action &part, int64_t rank, int64_t index,
                     Addition &last);

  /// The place of the stage and micro-batch of \p action in arrays of them.
  int64_t getPosition(const Action &action) const {
    return flow.getValues().activation(action.stage, action) / 2;
  }
  static Action withKind(Action action, ActionKind kind) {
    action.kind = kind;
    return action;
  }
  static constexpr Work getBit(ActionKind kind) {
    return 1 << static_cast<unsigned>(kind);
  }
  /// Calls \p function with each part of \p action.
  template <typename FunctionT>
  static void forEach(const Action &action, FunctionT function) {
    if (action.parts.empty())
      return function(action);
    for (const Action &part : action.parts)
      function(part);
  }
  /// Calls \p function with each part of each action of \p rank and its place.
  template <typename FunctionT>
  void walk(int64_t rank, FunctionT function) const {
    for (auto [index, action] : enumerate(schedule.getActions(rank)))
      forEach(action, [&, index = index](const Action &part) {
        function(part, static_cast<int64_t>(index));
      });
  }
  Place getPlace(const Action &action);
  void findPlaces();
  std::string describeAt(int64_t rank, int64_t action) const {
    return describe(schedule.getActions(rank)[action]);
  }
  void report(Rule rule, int64_t rank, int64_t action, const Twine &message,
              std::vector<Violation::Note> notes = {}) {
    found[rank].push_back(
        {rule, rank, action, message.str(), std::move(notes)});
  }

  const Schedule &schedule;
  const CheckOptions &options;
  ValueFlow flow;
  bool withTransfers;
  /// Per rank, the stages that it holds, as their first forwards.
  std::vector<SmallVector<Action, 2>> stages;
  /// What there is, and what has been done so far.
  std::vector<Work> works, done;
  /// Whether any action is on another rank than its stage.
  std::atomic<bool> isMisplaced = false;
  /// Per value, what its maker did with it, and whether it was received. Two
  /// ranks may note that at once, so they do in different memory.
  std::vector<uint8_t> states, received;
  /// Per direction and stage.
  std::vector<Addition> additions;
  std::vector<Places> places;
  std::once_flag placesFlag;
  /// Per rank, what was reported since the last call of checkRanks.
  std::vector<std::vector<Violation>> found;
};
} // namespace

template <typename CheckT>
std::vector<Violation> Checker::checkRanks(bool inParallel, CheckT check) {
  forEachRange(schedule, inParallel, [&](int64_t first, int64_t last) {
    for (int64_t rank = first; rank < last; ++rank)
      check(rank);
  });
  std::array<std::vector<Violation>, 8> ofRule;
  for (std::vector<Violation> &ofRank : found) {
    for (Violation &violation : ofRank)
      ofRule[static_cast<size_t>(violation.rule)].push_back(violation);
    ofRank.clear();
  }
  std::vector<Violation> violations;
  for (const std::vector<Violation> &list : ofRule)
    append_range(violations, list);
  return violations;
}

std::vector<Violation> Checker::run() {
  std::vector<Violation> violations = checkRanks(
      /*inParallel=*/true, [&](int64_t rank) { checkExistence(rank); });
  if (!violations.empty())
    return violations;
  prepare();
  // A misplaced action is noted where another rank may note things, too.
  violations = checkRanks(/*inParallel=*/!isMisplaced, [&](int64_t rank) {
    collectWork(rank);
    if (isMisplaced)
      checkPlacement(rank);
  });
  append_range(violations, checkRanks(/*inParallel=*/!isMisplaced,
                                      [&](int64_t rank) { checkOnce(rank); }));
  if (!violations.empty())
    return violations;
  checkMemory();
  violations = checkRanks(/*inParallel=*/true, [&](int64_t rank) {
    checkOrderOfRoles(rank);
    if (withTransfers)
      checkAvailability(rank);
    checkUpdates(rank);
  });
  if (!violations.empty())
    return violations;
  return withTransfers ? checkMessages(schedule, options)
                       : checkOrdersAgree(schedule);
}

/// Makes room for what the checks of the ranks note.
void Checker::prepare() {
  int64_t directions = schedule.getDirections();
  stages.resize(schedule.getRanks());
  for (int64_t direction = 0; direction < directions; ++direction)
    for (int64_t stage = 0; stage < schedule.getStages(); ++stage)
      stages[schedule.getRank(stage, direction)].push_back(
          {ActionKind::F, stage, /*microbatch=*/0, direction});
  additions.resize(schedule.getStages() * directions);
  int64_t values = flow.getValues().size();
  works.resize(values / 2);
  done.resize(values / 2);
  if (!withTransfers)
    return;
  states.resize(values);
  received.resize(values);
}

/// Where the first action like \p action is.
Checker::Place Checker::getPlace(const Action &action) {
  std::call_once(placesFlag, [&] { findPlaces(); });
  return places[getPosition(action)][static_cast<size_t>(action.kind)];
}

void Checker::findPlaces() {
  places.resize(works.size());
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    walk(rank, [&](const Action &part, int64_t index) {
      if (!part.isCompute())
        return;
      Place &place = places[getPosition(part)][static_cast<size_t>(part.kind)];
      if (place.rank < 0)
        place = {rank, index};
    });
}

//===----------------------------------------------------------------------===//
// S1: each stage meets each micro-batch exactly once
//===----------------------------------------------------------------------===//

bool Checker::hasOtherEnd(const Action &action) const {
  bool isNext =
      action.kind == ActionKind::SendF || action.kind == ActionKind::RecvB;
  return isNext ? action.stage + 1 < schedule.getStages() : action.stage > 0;
}

void Checker::checkExistence(int64_t rank) {
  bool isHome = true;
  walk(rank, [&](const Action &action, int64_t index) {
    if (action.kind == ActionKind::Step)
      return;
    if (!schedule.contains(action))
      return report(Rule::S1, rank, index,
                    describe(action) + " does not exist; there are " +
                        Twine(schedule.getStages()) + " stages and " +
                        Twine(schedule.getMicrobatches()) +
                        " micro-batches in each of " +
                        Twine(schedule.getDirections()) + " directions");
    isHome &= schedule.getRank(action.stage, action.direction) == rank;
    if (action.isTransfer() && !hasOtherEnd(action))
      report(Rule::S4, rank, index,
             describe(action) + " has no other end; stages are 0 to " +
                 Twine(schedule.getStages() - 1));
  });
  if (!isHome)
    isMisplaced = true;
}

void Checker::collectWork(int64_t rank) {
  walk(rank, [&](const Action &action, int64_t index) {
    if (!action.isCompute())
      return;
    Work &work = works[getPosition(action)];
    if (work & getBit(action.kind)) {
      Place place = getPlace(action);
      report(Rule::S1, rank, index,
             describe(action) + " runs twice; remove one",
             {{place.rank, place.action, "the first time is here"}});
    }
    work |= getBit(action.kind);
  });
}

void Checker::checkOnce(int64_t rank) {
  for (Action where : stages[rank])
    for (int64_t mb = 0; mb < schedule.getMicrobatches(); ++mb) {
      where.microbatch = mb;
      Work work = works[getPosition(where)];
      if (!options.roles.empty())
        checkRoles(where, work);
      else
        checkBackward(where, work);
    }
}

/// Each of the stage's roles runs; no other one does.
void Checker::checkRoles(const Action &where, Work work) {
  ArrayRef<ActionKind> roles = options.roles[where.stage];
  constexpr unsigned apart = getBit(ActionKind::B) | getBit(ActionKind::W);
  bool isSplit =
      is_contained(roles, ActionKind::B) && is_contained(roles, ActionKind::W);
  // A pair runs both as one full backward.
  if (isSplit && (work & getBit(ActionKind::BW)) && !(work & apart))
    work ^= getBit(ActionKind::BW) | apart;
  for (ActionKind kind : {ActionKind::F, ActionKind::B, ActionKind::W,
                          ActionKind::BW, ActionKind::R}) {
    Action action = withKind(where, kind);
    bool exists = work & getBit(kind);
    bool expected = is_contained(roles, kind);
    if (expected && !exists) {
      reportMissing(action);
    } else if (!expected && exists) {
      Place place = getPlace(action);
      report(Rule::S1, place.rank, place.action,
             describe(action) +
                 " runs, but the stage has no such task; remove it");
    }
  }
}

void Checker::reportMissing(const Action &action) {
  report(Rule::S1, schedule.getRank(action.stage, action.direction), -1,
         describe(action) + " never runs; add it");
}

/// F runs, and either BW or both B and W.
void Checker::checkBackward(const Action &where, Work work) {
  if (!(work & getBit(ActionKind::F)))
    reportMissing(withKind(where, ActionKind::F));
  if (schedule.isForwardOnly())
    return;
  bool hasB = work & getBit(ActionKind::B);
  bool hasW = work & getBit(ActionKind::W);
  if (!(work & getBit(ActionKind::BW))) {
    if (!hasB && !hasW)
      reportMissing(withKind(where, ActionKind::BW));
    else if (hasB != hasW)
      reportMissing(withKind(where, hasB ? ActionKind::W : ActionKind::B));
    return;
  }
  if (!hasB && !hasW)
    return;
  Place full = getPlace(withKind(where, ActionKind::BW));
  Place second =
      getPlace(withKind(where, hasB ? ActionKind::B : ActionKind::W));
  report(Rule::S1, second.rank, second.action,
         describeAt(second.rank, second.action) +
             " repeats a part of the full backward; remove one of them",
         {{full.rank, full.action, "the full backward is here"}});
}

//===----------------------------------------------------------------------===//
// S2: each action is on the rank that holds its stage
//===----------------------------------------------------------------------===//

void Checker::checkPlacement(int64_t rank) {
  walk(rank, [&](const Action &action, int64_t index) {
    if (action.kind == ActionKind::Step)
      return;
    int64_t owner = schedule.getRank(action.stage, action.direction);
    if (owner != rank)
      report(Rule::S2, rank, index,
             describe(action) + " is on rank " + Twine(rank) + ", but rank " +
                 Twine(owner) + " holds the stage; move it there");
  });
}

//===----------------------------------------------------------------------===//
// S3: an action comes after what it needs
//===----------------------------------------------------------------------===//

void Checker::checkOrderOfRoles(int64_t rank) {
  for (auto [index, action] : enumerate(schedule.getActions(rank))) {
    if (!action.isCompute())
      continue;
    // The parts of a pair run together: neither comes after the other.
    forEach(action, [&, index = index](const Action &part) {
      checkComesAfter(part, rank, index);
    });
    forEach(action, [&](const Action &part) {
      done[getPosition(part)] |= getBit(part.kind);
    });
  }
}

void Checker::checkComesAfter(const Action &part, int64_t rank, int64_t index) {
  constexpr ActionKind order[] = {ActionKind::F, ActionKind::R, ActionKind::B,
                                  ActionKind::BW, ActionKind::W};
  int64_t position = getPosition(part);
  Work open = works[position] & ~done[position];
  for (ActionKind earlier : order) {
    if (earlier == part.kind)
      return;
    if (!(open & getBit(earlier)))
      continue;
    Action needed = withKind(part, earlier);
    report(Rule::S3, rank, index,
           describe(part) + " does not run after " + describe(needed) +
               "; move it there",
           {{rank, getPlace(needed).action, "which is here"}});
    return;
  }
}

/// With transfers in the schedule, every value must be in the rank's memory
/// when it is used or sent.
void Checker::checkAvailability(int64_t rank) {
  for (auto [index, action] : enumerate(schedule.getActions(rank))) {
    if (action.kind == ActionKind::Step)
      continue;
    if (!action.isCompute()) {
      forEach(action, [&, index = index](const Action &part) {
        checkTransferAvailability(rank, index, part);
      });
      continue;
    }
    forEach(action, [&, index = index](const Action &part) {
      flow.forEachUse(part, [&](int64_t value, bool isRemote) {
        if (!(isRemote ? received[value] : states[value] & Made))
          reportUnavailable(rank, index, value);
      });
    });
    forEach(action, [&](const Action &part) {
      flow.forEachMake(part,
                       [&](int64_t value, bool) { states[value] |= Made; });
    });
  }
}

void Checker::reportUnavailable(int64_t rank, int64_t index, int64_t value) {
  const ValueNumbering &values = flow.getValues();
  Action maker = values.transfer(value, /*isSend=*/true);
  int64_t source = schedule.getRank(maker.stage, maker.direction);
  bool isActivation = maker.kind == ActionKind::SendF;
  if (source == rank) {
    report(Rule::S3, rank, index,
           describeAt(rank, index) + " comes before the " +
               (isActivation ? "forward" : "backward") + " of stage " +
               Twine(maker.stage) + ", whose result it needs; move it there");
    return;
  }
  Action receive = values.transfer(value, /*isSend=*/false);
  report(Rule::S3, rank, index,
         describeAt(rank, index) + " comes before " + describe(receive) +
             ", or without it; receive first");
}

void Checker::checkTransferAvailability(int64_t rank, int64_t index,
                                        const Action &part) {
  int64_t value = flow.getValues().message(part);
  if (!part.isSend()) {
    bool isHere = getPeer(schedule, part) == rank;
    if (received[value] || (isHere && states[value] & Made))
      report(Rule::S4, rank, index,
             describe(part) +
                 " receives what the rank holds already; remove it");
    received[value] = true;
    return;
  }
  if (!(states[value] & Made))
    reportUnavailable(rank, index, value);
  if (states[value] & Sent)
    report(Rule::S4, rank, index,
           describe(part) + " sends what was sent already; remove it");
  states[value] |= Sent;
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

void Checker::checkUpdates(int64_t rank) {
  ArrayRef<Action> actions = schedule.getActions(rank);
  int64_t last = static_cast<int64_t>(actions.size()) - 1;
  walk(rank, [&](const Action &part, int64_t index) {
    if (part.isWeightGradient())
      checkAddition(
          part, rank, index,
          additions[part.direction * schedule.getStages() + part.stage]);
    if (part.kind == ActionKind::Step && index < last)
      report(Rule::S7, rank, index,
             "the update comes before " + describe(actions[index + 1]) +
                 "; it must be the last action",
             {{rank, index + 1, "which is here"}});
  });
}

void Checker::checkAddition(const Action &part, int64_t rank, int64_t index,
                            Addition &last) {
  if (last.microbatch > part.microbatch)
    report(Rule::S7, rank, index,
           describe(part) + " comes after that of micro-batch " +
               Twine(last.microbatch) +
               "; weight gradients are added in the order of micro-batches",
           {{rank, last.action, "which is here"}});
  last = {part.microbatch, index};
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
