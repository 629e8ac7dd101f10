//===- Network.cpp - Do the ranks' messages reach the end?
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Network.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {
/// What one rank sends to another, or receives from it, in order.
struct Sequence {
  SmallVector<int64_t> messages;
  SmallVector<int64_t> actions;
  void add(int64_t message, int64_t action) {
    messages.push_back(message);
    actions.push_back(action);
  }
};
struct Pair {
  Sequence sent;
  Sequence received;
};
} // namespace

/// The first place where both sides of a pair differ, if any.
static std::optional<OrderFault> compare(int64_t source, int64_t target,
                                         const Pair &pair) {
  size_t sends = pair.sent.messages.size();
  size_t recvs = pair.received.messages.size();
  for (size_t i = 0; i < std::max(sends, recvs); ++i) {
    OrderFault fault = {source, target, -1, -1, -1, -1};
    if (i < sends) {
      fault.sent = pair.sent.messages[i];
      fault.sendAction = pair.sent.actions[i];
    }
    if (i < recvs) {
      fault.received = pair.received.messages[i];
      fault.recvAction = pair.received.actions[i];
    }
    if (fault.sent == fault.received)
      continue;
    // A message that the other side does not know at all is missing there,
    // which says more than that the order differs.
    if (fault.sent >= 0 && !is_contained(pair.received.messages, fault.sent))
      fault.received = fault.recvAction = -1;
    else if (fault.received >= 0 &&
             !is_contained(pair.sent.messages, fault.received))
      fault.sent = fault.sendAction = -1;
    return fault;
  }
  return std::nullopt;
}

std::vector<OrderFault> pipewright::checkOrder(const Network &network) {
  // Ordered, because faults are reported in this order.
  std::map<std::pair<int64_t, int64_t>, Pair> pairs;
  for (auto [rank, steps] : enumerate(network.ranks))
    for (const NetworkStep &step : steps)
      for (const Transfer &transfer : step.transfers) {
        if (transfer.isSend)
          pairs[{rank, transfer.peer}].sent.add(transfer.message, step.action);
        else
          pairs[{transfer.peer, rank}].received.add(transfer.message,
                                                    step.action);
      }
  std::vector<OrderFault> faults;
  for (const auto &[ranks, pair] : pairs)
    if (std::optional<OrderFault> fault =
            compare(ranks.first, ranks.second, pair))
      faults.push_back(*fault);
  return faults;
}

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

namespace {
/// Runs all ranks as far as they go. Since both sides of a pair use the same
/// order, the n-th send of a pair meets the n-th receive, and two counters per
/// pair are all the state there is.
class NetworkRun {
public:
  NetworkRun(const Network &network, int64_t credits)
      : network(network), credits(credits), next(network.ranks.size(), 0),
        posted(network.ranks.size()) {}

  void run() {
    for (size_t rank = 0; rank < network.ranks.size(); ++rank)
      active.push_back(rank);
    while (!active.empty())
      advance(active.pop_back_val());
  }

  bool isAtEnd(int64_t rank) const {
    return next[rank] == network.ranks[rank].size();
  }

  /// The first transfer that keeps \p rank from going on.
  Stall getStall(int64_t rank) const {
    const NetworkStep &step = network.ranks[rank][next[rank]];
    for (auto [transfer, ordinal] : zip_equal(step.transfers, posted[rank]))
      if (!isDone(rank, transfer, ordinal))
        return {rank, step.action, transfer};
    llvm_unreachable("the rank is not stalled");
  }

private:
  struct Counters {
    int64_t sends = 0;
    int64_t recvs = 0;
  };

  Counters &getCounters(int64_t rank, const Transfer &transfer) {
    return transfer.isSend ? counters[{rank, transfer.peer}]
                           : counters[{transfer.peer, rank}];
  }

  bool isDone(int64_t rank, const Transfer &transfer, int64_t ordinal) const {
    auto pair = transfer.isSend ? std::pair(rank, transfer.peer)
                                : std::pair(transfer.peer, rank);
    Counters state = counters.lookup(pair);
    return transfer.isSend ? ordinal < state.recvs + credits
                           : ordinal < state.sends;
  }

  /// Posts the transfers of the rank's step, once; returns their ordinals.
  void post(int64_t rank, const NetworkStep &step) {
    for (const Transfer &transfer : step.transfers) {
      Counters &state = getCounters(rank, transfer);
      posted[rank].push_back(transfer.isSend ? state.sends++ : state.recvs++);
      active.push_back(transfer.peer);
    }
  }

  void advance(int64_t rank) {
    for (; !isAtEnd(rank); ++next[rank], posted[rank].clear()) {
      const NetworkStep &step = network.ranks[rank][next[rank]];
      if (posted[rank].empty())
        post(rank, step);
      for (auto [transfer, ordinal] : zip_equal(step.transfers, posted[rank]))
        if (!isDone(rank, transfer, ordinal))
          return;
    }
  }

  const Network &network;
  int64_t credits;
  std::vector<size_t> next;
  /// Per rank, the ordinals of the transfers of its current step.
  std::vector<SmallVector<int64_t, 2>> posted;
  DenseMap<std::pair<int64_t, int64_t>, Counters> counters;
  SmallVector<int64_t> active;
};
} // namespace

std::vector<Stall> pipewright::findDeadlock(const Network &network,
                                            int64_t credits) {
  NetworkRun run(network, credits);
  run.run();
  int64_t rank = 0;
  int64_t ranks = network.ranks.size();
  while (rank < ranks && run.isAtEnd(rank))
    ++rank;
  if (rank == ranks)
    return {};

  // Equal orders on both sides: a stalled rank waits for one that is stalled
  // too, so following them must come to a rank seen before.
  std::vector<Stall> path;
  auto isOnPath = [&](int64_t candidate) {
    return find_if(path,
                   [&](const Stall &stall) { return stall.rank == candidate; });
  };
  while (isOnPath(rank) == path.end()) {
    path.push_back(run.getStall(rank));
    rank = path.back().transfer.peer;
  }
  path.erase(path.begin(), isOnPath(rank));
  return path;
}
