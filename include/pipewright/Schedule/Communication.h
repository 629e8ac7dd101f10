//===- Communication.h - Sends and receives of a schedule -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_COMMUNICATION_H
#define PIPEWRIGHT_SCHEDULE_COMMUNICATION_H

#include "pipewright/Schedule/Network.h"
#include "pipewright/Schedule/Simulator.h"

namespace pipewright {

/// Numbers the values that actions make: one activation per forward and one
/// gradient per backward.
class ValueNumbering {
public:
  explicit ValueNumbering(const Schedule &schedule)
      : stages(schedule.getStages()), microbatches(schedule.getMicrobatches()),
        directions(schedule.getDirections()) {}

  int64_t activation(int64_t stage, const Action &action) const {
    return 2 * position(stage, action);
  }
  int64_t gradient(int64_t stage, const Action &action) const {
    return 2 * position(stage, action) + 1;
  }
  /// The value that the transfer \p action moves.
  int64_t message(const Action &action) const {
    switch (action.kind) {
    case ActionKind::SendF:
      return activation(action.stage, action);
    case ActionKind::RecvF:
      return activation(action.stage - 1, action);
    case ActionKind::SendB:
      return gradient(action.stage, action);
    default:
      return gradient(action.stage + 1, action);
    }
  }
  /// The transfer that takes \p value away from, or to, a rank.
  Action transfer(int64_t value, bool isSend) const;
  int64_t size() const { return 2 * stages * microbatches * directions; }
  /// The activations of a stage and direction are a row of values, and so are
  /// the gradients.
  int64_t getRow(int64_t value) const {
    return value / 2 / microbatches * 2 + value % 2;
  }
  int64_t getRows() const { return 2 * stages * directions; }

private:
  int64_t position(int64_t stage, const Action &action) const {
    return (action.direction * stages + stage) * microbatches +
           action.microbatch;
  }

  int64_t stages, microbatches, directions;
};

/// The rank at the other end of \p transfer.
inline int64_t getPeer(const Schedule &schedule, const Action &transfer) {
  bool isNext =
      transfer.kind == ActionKind::SendF || transfer.kind == ActionKind::RecvB;
  return schedule.getRank(transfer.stage + (isNext ? 1 : -1),
                          transfer.direction);
}

/// The actions of \p schedule, all of which it contains, as \p transport
/// carries them out. Computing, which has no transfers, is left out where
/// nothing waits for it, unless \p withComputing asks for it.
Network buildNetwork(const Schedule &schedule, Transport transport,
                     bool withComputing = false);

/// Whether \p schedule says when its messages move.
bool hasTransfers(const Schedule &schedule);
/// \p schedule without its sends and receives.
Schedule removeTransfers(Schedule schedule);

/// Where transfers go between the computing actions.
enum class MessageOrder {
  /// In one order on all ranks, that of a dry run, in which no transport can
  /// deadlock.
  Global,
  /// A receive right before the first action that needs it, a send right after
  /// the action that makes it: the obvious order, which blocking calls and
  /// shared streams can deadlock.
  Naive
};

/// Adds to a valid schedule, in place of the transfers that it may have, a send
/// and a receive for every value that crosses ranks. An update stays the last
/// action of its rank.
Schedule addCommunication(Schedule schedule, const CostModel &costs,
                          MessageOrder order = MessageOrder::Global);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_COMMUNICATION_H
