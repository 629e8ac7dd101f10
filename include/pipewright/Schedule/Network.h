//===- Network.h - Do the ranks' messages reach the end? --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks as processes that only send and receive, in a fixed order. Such a
// network behaves the same however the processes are interleaved, so one run
// of it decides for all runs whether it deadlocks.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_NETWORK_H
#define PIPEWRIGHT_SCHEDULE_NETWORK_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace pipewright {

struct Transfer {
  bool isSend;
  int64_t peer;
  /// The same on both ends and in no other transfer.
  int64_t message;
};

/// Transfers that are posted together; the rank goes on when all are done.
struct NetworkStep {
  llvm::SmallVector<Transfer, 1> transfers;
  /// For the caller: which of its actions this is.
  int64_t action;
};

struct Network {
  std::vector<std::vector<NetworkStep>> ranks;
};

/// A difference between what rank `source` sends to rank `target` and what
/// that receives.
struct OrderFault {
  int64_t source;
  int64_t target;
  /// The caller's action on each side; -1 where the message is missing.
  int64_t sendAction;
  int64_t recvAction;
  /// Messages at that place; -1 where missing.
  int64_t sent;
  int64_t received;
};

/// For each ordered pair of ranks, the first place where the order of sends is
/// not the order of receives (a transport that matches messages by order would
/// deliver the wrong one).
std::vector<OrderFault> checkOrder(const Network &network);

/// A rank that cannot go on.
struct Stall {
  int64_t rank;
  int64_t action;
  /// What it waits for.
  Transfer transfer;
};

/// Runs \p network, in which checkOrder finds no fault. A send is done when its
/// receive is posted or at most \p credits messages of its pair of ranks are
/// posted before being asked for.
///
/// Returns nothing if all ranks reach the end, and otherwise a cycle: each rank
/// waits for the next one, the last for the first.
std::vector<Stall> findDeadlock(const Network &network, int64_t credits);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_NETWORK_H
