//===- Schedule.h - Who computes what, and when -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule lists, for each rank, the actions of one training step in the
// order in which the rank runs them. It knows nothing of tensors or of MLIR:
// the generators, the checker and the simulator work on it alone.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_SCHEDULE_H
#define PIPEWRIGHT_SCHEDULE_SCHEDULE_H

#include "pipewright/Schedule/Placement.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pipewright {

/// F: forward. B: gradient for the inputs only. W: gradient for the weights
/// only. BW: both at once. R: recomputes what F did not keep. FB: an
/// overlapped pair of one F and one B or BW. SendF/RecvF: an activation leaves
/// for the next stage, arrives from the previous one; SendB/RecvB: a gradient
/// leaves for the previous stage, arrives from the next one. Group: transfers
/// that are posted together. Step: the update of the rank's parameters.
enum class ActionKind : uint8_t {
  F,
  B,
  W,
  BW,
  R,
  FB,
  SendF,
  RecvF,
  SendB,
  RecvB,
  Group,
  Step
};

/// The name of \p kind in all our formats, such as `F` or `SEND_F`.
llvm::StringRef getName(ActionKind kind);
std::optional<ActionKind> parseActionKind(llvm::StringRef name);

/// Larger problems are refused rather than left to run out of memory: 16 M
/// pairs of a stage and a micro-batch.
inline constexpr int64_t maxWork = int64_t(1) << 24;

/// Whether \p stages times \p microbatches, both at least 1, is at most
/// maxWork.
inline bool isTractable(int64_t stages, int64_t microbatches) {
  return stages <= maxWork && microbatches <= maxWork / stages;
}

/// Most directions of one schedule.
inline constexpr int64_t maxDirections = 32;

struct Action;

/// The parts of a few actions, on the heap and only where there are any, so
/// that the many others stay small. Behaves as a vector does.
class ActionParts {
public:
  ActionParts() = default;
  inline ActionParts(std::initializer_list<Action> list);
  ActionParts(const std::vector<Action> &list);
  inline ActionParts(const ActionParts &other);
  ActionParts(ActionParts &&other) noexcept : box(other.box) {
    other.box = nullptr;
  }
  ActionParts &operator=(ActionParts other) noexcept {
    std::swap(box, other.box);
    return *this;
  }
  ~ActionParts() {
    if (box)
      destroy();
  }

  bool empty() const { return !box; }
  inline size_t size() const;
  inline Action *begin();
  inline Action *end();
  inline const Action *begin() const;
  inline const Action *end() const;
  inline Action &operator[](size_t index);
  inline const Action &operator[](size_t index) const;
  inline Action &back();
  inline operator llvm::ArrayRef<Action>() const;
  void resize(size_t size);
  Action &emplace_back();
  void push_back(Action action);

private:
  using Box = llvm::SmallVector<Action, 2>;
  void destroy();
  Box &getBox();

  /// Null, or not empty.
  Box *box = nullptr;
};

/// One thing that a rank does, in 16 bytes. A micro-batch is known by its
/// number and its direction: each direction counts from 0.
struct Action {
  ActionKind kind;
  int64_t direction : 6;
  int64_t stage : 25;
  int64_t microbatch : 25;
  /// Of FB: the forward and the backward. Of Group: its transfers.
  ActionParts parts;

  Action(ActionKind kind = ActionKind::F, int64_t stage = 0,
         int64_t microbatch = 0, int64_t direction = 0, ActionParts parts = {})
      : kind(kind), direction(direction), stage(stage), microbatch(microbatch),
        parts(std::move(parts)) {
    assert(fits(stage, microbatch, direction) && "numbers out of range");
  }

  /// Whether the fields can hold these numbers, of any schedule that is
  /// tractable or of its neighbourhood.
  static bool fits(int64_t stage, int64_t microbatch, int64_t direction) {
    return stage >= -1 && stage < maxWork && microbatch >= -1 &&
           microbatch < maxWork && direction >= -1 && direction < maxDirections;
  }

  bool isTransfer() const {
    return kind >= ActionKind::SendF && kind <= ActionKind::RecvB;
  }
  bool isSend() const {
    return kind == ActionKind::SendF || kind == ActionKind::SendB;
  }
  /// True for what takes compute time: F, B, W, BW, R and FB.
  bool isCompute() const { return kind <= ActionKind::FB; }
  /// True for B and BW, which make the gradient for the previous stage.
  bool isInputGradient() const {
    return kind == ActionKind::B || kind == ActionKind::BW;
  }
  /// True for W and BW, which add to the gradients of the weights.
  bool isWeightGradient() const {
    return kind == ActionKind::W || kind == ActionKind::BW;
  }

  bool operator==(const Action &other) const;
};
static_assert(sizeof(Action) == 16, "schedules have many millions of actions");

inline ActionParts::ActionParts(std::initializer_list<Action> list)
    : box(list.size() ? new Box(list) : nullptr) {}
inline ActionParts::ActionParts(const ActionParts &other)
    : box(other.box ? new Box(*other.box) : nullptr) {}
inline size_t ActionParts::size() const { return box ? box->size() : 0; }
inline Action *ActionParts::begin() { return box ? box->begin() : nullptr; }
inline Action *ActionParts::end() { return box ? box->end() : nullptr; }
inline const Action *ActionParts::begin() const {
  return box ? box->begin() : nullptr;
}
inline const Action *ActionParts::end() const {
  return box ? box->end() : nullptr;
}
inline Action &ActionParts::operator[](size_t index) { return begin()[index]; }
inline const Action &ActionParts::operator[](size_t index) const {
  return begin()[index];
}
inline Action &ActionParts::back() { return box->back(); }
inline ActionParts::operator llvm::ArrayRef<Action>() const {
  return {begin(), end()};
}

/// Calls \p function on \p action, or on each part if it has parts.
void forEachPart(const Action &action,
                 llvm::function_ref<void(const Action &)> function);

/// "F of stage 1, micro-batch 3": how diagnostics name an action.
std::string describe(const Action &action);

/// The size of the problem that a generator solves.
struct ScheduleShape {
  int64_t ranks = 1;
  int64_t microbatches = 1;
  /// Stages per rank.
  int64_t chunks = 1;
};

class Schedule {
public:
  /// Stage s is on rank s mod ranks.
  explicit Schedule(const ScheduleShape &shape);

  /// \p placement has one list per direction: the rank that holds stage s.
  Schedule(const ScheduleShape &shape, Placement placement);

  llvm::StringRef getName() const { return name; }
  void setName(llvm::StringRef newName) { name = newName.str(); }

  /// Of a schedule that a search made: the name of the one that it took, or
  /// `search` if it took one of its own. Empty otherwise.
  llvm::StringRef getChosen() const { return chosen; }
  void setChosen(llvm::StringRef newChosen) { chosen = newChosen.str(); }

  /// An inference schedule: no backward, no update.
  bool isForwardOnly() const { return forwardOnly; }
  void setForwardOnly() { forwardOnly = true; }

  const ScheduleShape &getShape() const { return shape; }
  int64_t getRanks() const { return shape.ranks; }
  int64_t getStages() const { return placement.front().size(); }
  int64_t getDirections() const { return placement.size(); }
  /// Micro-batches of each direction.
  int64_t getMicrobatches() const { return microbatches; }
  /// The number in the step of \p microbatch of \p direction: those of
  /// direction 0 come first.
  int64_t getNumberInStep(int64_t microbatch, int64_t direction) const {
    return direction * getMicrobatches() + microbatch;
  }
  const Placement &getPlacement() const { return placement; }
  int64_t getRank(int64_t stage, int64_t direction = 0) const {
    return placement[direction][stage];
  }
  /// True if stage, micro-batch and direction of \p action exist.
  bool contains(const Action &action) const {
    return action.direction >= 0 && action.direction < getDirections() &&
           action.stage >= 0 && action.stage < getStages() &&
           action.microbatch >= 0 && action.microbatch < getMicrobatches();
  }

  llvm::ArrayRef<Action> getActions(int64_t rank) const {
    return actions[rank];
  }
  void setActions(int64_t rank, std::vector<Action> list) {
    actions[rank] = std::move(list);
  }
  /// The rank will have at least \p size actions.
  void reserve(int64_t rank, size_t size) { actions[rank].reserve(size); }
  void add(int64_t rank, Action action) {
    actions[rank].push_back(std::move(action));
  }
  void addForward(int64_t rank, int64_t stage, int64_t microbatch,
                  int64_t direction = 0) {
    add(rank, {ActionKind::F, stage, microbatch, direction});
  }
  /// The full backward, BW.
  void addBackward(int64_t rank, int64_t stage, int64_t microbatch,
                   int64_t direction = 0) {
    add(rank, {ActionKind::BW, stage, microbatch, direction});
  }
  void addInputGradient(int64_t rank, int64_t stage, int64_t microbatch,
                        int64_t direction = 0) {
    add(rank, {ActionKind::B, stage, microbatch, direction});
  }
  void addWeightGradient(int64_t rank, int64_t stage, int64_t microbatch,
                         int64_t direction = 0) {
    add(rank, {ActionKind::W, stage, microbatch, direction});
  }

private:
  std::string name, chosen;
  bool forwardOnly = false;
  ScheduleShape shape;
  Placement placement;
  /// Of each direction: a quotient that every action is compared with.
  int64_t microbatches;
  std::vector<std::vector<Action>> actions;
};

/// All micro-batches forward on stages placed as \p placement says, in the
/// order of micro-batches: what evaluation and inference run.
Schedule buildForwardOnly(const ScheduleShape &shape, Placement placement);

/// Whether any backward of \p schedule runs as B and W apart.
bool splitsBackward(const Schedule &schedule);

/// \p schedule with each BW outside pairs as B and then W: so a program runs it
/// whose stages have tasks for these, because other backwards run apart.
Schedule splitFullBackwards(const Schedule &schedule);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_SCHEDULE_H
