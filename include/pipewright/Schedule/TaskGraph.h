//===- TaskGraph.h - Ordered tasks and the values between them --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a dry run needs to know of a schedule or of the rank programs: each
// rank's tasks in order, the values that each task waits for and makes, and
// how long it takes.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_TASKGRAPH_H
#define PIPEWRIGHT_SCHEDULE_TASKGRAPH_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pipewright {

struct TaskGraph {
  struct Task {
    double duration = 0;
    /// Values are numbered from 0; each is made by one task at most.
    llvm::SmallVector<int64_t, 2> uses = {};
    llvm::SmallVector<int64_t, 2> makes = {};
  };
  std::vector<std::vector<Task>> ranks;
  int64_t values = 0;
  /// From the end of the task that makes a value to its use on another rank.
  double latency = 0;
};

/// One step of a rank once the messages are placed between its tasks.
struct PlacedStep {
  enum Kind : uint8_t { Task, Send, Recv } kind;
  /// The task's position on its rank, or the number of the value that moves.
  int64_t index;
};

/// Places a send and a receive for each value that crosses ranks (to one rank
/// at most) so that no transport can deadlock: all messages are ordered once,
/// by the end of the tasks that make them in a dry run, and every rank issues
/// its sends and receives in that order: sends once the value is made, receives
/// before the task during which it is made. Returns nothing if the tasks wait
/// for each other.
std::optional<std::vector<std::vector<PlacedStep>>>
placeMessages(const TaskGraph &graph);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_TASKGRAPH_H
