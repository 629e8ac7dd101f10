//===- Schedule.cpp - Who computes what, and when
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Schedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace pipewright;

static constexpr StringLiteral kindNames[] = {
    "F",      "B",      "W",      "BW",     "R",     "FB",
    "SEND_F", "RECV_F", "SEND_B", "RECV_B", "GROUP", "STEP"};

StringRef pipewright::getName(ActionKind kind) {
  return kindNames[static_cast<size_t>(kind)];
}

std::optional<ActionKind> pipewright::parseActionKind(StringRef name) {
  const auto *found = llvm::find(kindNames, name);
  if (found == std::end(kindNames))
    return std::nullopt;
  return static_cast<ActionKind>(found - kindNames);
}

ActionParts::ActionParts(const std::vector<Action> &list) {
  if (!list.empty())
    box = new Box(list.begin(), list.end());
}

void ActionParts::destroy() { delete box; }

ActionParts::Box &ActionParts::getBox() {
  if (!box)
    box = new Box;
  return *box;
}

void ActionParts::resize(size_t size) {
  if (size == 0)
    *this = {};
  else
    getBox().resize(size);
}

Action &ActionParts::emplace_back() { return getBox().emplace_back(); }

void ActionParts::push_back(Action action) {
  getBox().push_back(std::move(action));
}

bool Action::operator==(const Action &other) const {
  return kind == other.kind && stage == other.stage &&
         microbatch == other.microbatch && direction == other.direction &&
         ArrayRef<Action>(parts) == ArrayRef<Action>(other.parts);
}

void pipewright::forEachPart(const Action &action,
                             function_ref<void(const Action &)> function) {
  if (action.parts.empty())
    return function(action);
  for (const Action &part : action.parts)
    function(part);
}

std::string pipewright::describe(const Action &action) {
  if (action.kind == ActionKind::Step)
    return "the update";
  if (!action.parts.empty())
    return join(map_range(action.parts, describe), " with ");
  std::string text =
      (getName(action.kind) + " of stage " + Twine(action.stage) +
       ", micro-batch " + Twine(action.microbatch))
          .str();
  if (action.direction != 0)
    text += ", direction " + std::to_string(action.direction);
  return text;
}

Schedule::Schedule(const ScheduleShape &shape)
    : Schedule(shape, placeInLoops(shape.ranks, shape.chunks)) {}

Schedule::Schedule(const ScheduleShape &shape, Placement placement)
    : shape(shape), placement(std::move(placement)),
      microbatches(shape.microbatches /
                   static_cast<int64_t>(this->placement.size())),
      actions(shape.ranks) {}

Schedule pipewright::buildForwardOnly(const ScheduleShape &shape,
                                      Placement placement) {
  Schedule schedule(shape, std::move(placement));
  schedule.setName("forward-only");
  schedule.setForwardOnly();
  for (int64_t mb = 0; mb < schedule.getMicrobatches(); ++mb)
    for (int64_t direction = 0; direction < schedule.getDirections();
         ++direction)
      for (int64_t stage = 0; stage < schedule.getStages(); ++stage)
        schedule.addForward(schedule.getRank(stage, direction), stage, mb,
                            direction);
  return schedule;
}

bool pipewright::splitsBackward(const Schedule &schedule) {
  bool found = false;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    for (const Action &action : schedule.getActions(rank))
      forEachPart(action, [&](const Action &part) {
        found |= part.kind == ActionKind::W;
      });
  return found;
}

Schedule pipewright::splitFullBackwards(const Schedule &schedule) {
  Schedule result = schedule;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    std::vector<Action> actions;
    for (Action action : schedule.getActions(rank)) {
      bool isFull = action.kind == ActionKind::BW;
      if (isFull)
        action.kind = ActionKind::B;
      actions.push_back(action);
      action.kind = ActionKind::W;
      if (isFull)
        actions.push_back(action);
    }
    result.setActions(rank, std::move(actions));
  }
  return result;
}
