//===- Network.cpp - Do the ranks' messages reach the end?
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Network.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {
/// One end of a message, in the order of its queue.
struct End {
  int64_t message;
  int64_t action;
};

/// The messages that one rank sends to another, of one kind or of both.
struct Queue {
  int64_t target;
  MessageKind kind;
  std::vector<End> sent = {};
  std::vector<End> received = {};
};

/// The queues of a network, by their source.
class Queues {
public:
  explicit Queues(const Network &network)
      : perKind(hasQueuePerKind(network.transport)),
        queues(network.lanesOfRank.size()) {
    for (const Network::Lane &lane : network.lanes)
      for (auto [transfer, action] :
           zip_equal(lane.transfers, lane.transferActions)) {
        Queue &queue = get(lane.rank, transfer);
        (transfer.isSend ? queue.sent : queue.received)
            .push_back({transfer.message, action});
      }
  }

  Queue &get(int64_t rank, const Transfer &transfer) {
    int64_t source = transfer.isSend ? rank : transfer.peer;
    int64_t target = transfer.isSend ? transfer.peer : rank;
    MessageKind kind = perKind ? transfer.kind : MessageKind::Activation;
    // A rank sends to few others.
    for (Queue &queue : queues[source])
      if (queue.target == target && queue.kind == kind)
        return queue;
    return queues[source].emplace_back(Queue{target, kind});
  }

  MutableArrayRef<Queue> getQueuesFrom(int64_t source) {
    return queues[source];
  }
  int64_t getRanks() const { return queues.size(); }

private:
  bool perKind;
  std::vector<std::vector<Queue>> queues;
};
} // namespace

static bool contains(ArrayRef<End> ends, int64_t message) {
  return any_of(ends, [&](const End &end) { return end.message == message; });
}

/// The first place where both sides of a queue differ, if any.
static std::optional<OrderFault> compare(int64_t source, const Queue &queue) {
  size_t sends = queue.sent.size();
  size_t recvs = queue.received.size();
  for (size_t i = 0; i < std::max(sends, recvs); ++i) {
    End sent = i < sends ? queue.sent[i] : End{-1, -1};
    End received = i < recvs ? queue.received[i] : End{-1, -1};
    if (sent.message == received.message)
      continue;
    // A message that the other side does not know at all is missing there,
    // which says more than that the order differs.
    if (sent.message >= 0 && !contains(queue.received, sent.message))
      received = {-1, -1};
    else if (received.message >= 0 && !contains(queue.sent, received.message))
      sent = {-1, -1};
    return OrderFault{source,          queue.target, sent.action,
                      received.action, sent.message, received.message};
  }
  return std::nullopt;
}

std::vector<OrderFault> pipewright::checkOrder(const Network &network) {
  Queues queues(network);
  std::vector<OrderFault> faults;
  for (int64_t source = 0; source < queues.getRanks(); ++source) {
    MutableArrayRef<Queue> ofSource = queues.getQueuesFrom(source);
    llvm::sort(ofSource, [](const Queue &lhs, const Queue &rhs) {
      return std::pair(lhs.target, lhs.kind) < std::pair(rhs.target, rhs.kind);
    });
    for (const Queue &queue : ofSource)
      if (std::optional<OrderFault> fault = compare(source, queue))
        faults.push_back(*fault);
  }
  return faults;
}

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

namespace {
/// Runs all lanes as far as they go.
class NetworkRun {
public:
  NetworkRun(const Network &network, int64_t credits)
      : network(network), credits(credits), ends(network.messages),
        next(network.lanes.size(), 0), hasPosted(network.lanes.size(), false),
        waitsFor(network.lanes.size(), -1),
        isAwake(network.lanes.size(), false) {
    findEnds();
    if (credits > 0)
      findCreditors();
  }

  void run() {
    for (size_t lane = 0; lane < network.lanes.size(); ++lane)
      wake(lane);
    // Lanes wait in rounds, so that each goes on as far as it can at once.
    SmallVector<int64_t> round;
    while (!awake.empty()) {
      round.swap(awake);
      for (int64_t lane : round)
        runLane(lane);
      round.clear();
    }
  }

  bool isAtEnd(int64_t lane) const {
    return next[lane] == static_cast<int64_t>(network.lanes[lane].steps.size());
  }

  /// What keeps \p lane from going on, and in \p blocker the lane that it
  /// waits for.
  Stall getStall(int64_t lane, int64_t &blocker) const;

private:
  /// Where a message is sent and received, and which ends are posted.
  struct Ends {
    int64_t sendLane = -1;
    int64_t recvLane = -1;
    /// The message whose receive lets a send with credits go on, or -1 if
    /// credits suffice.
    int64_t creditor = -1;
    bool isSent = false;
    bool isReceived = false;
  };

  void findEnds() {
    for (auto [number, lane] : enumerate(network.lanes))
      for (const Transfer &transfer : lane.transfers) {
        Ends &end = ends[transfer.message];
        (transfer.isSend ? end.sendLane : end.recvLane) = number;
      }
  }

  /// A send waits for the receive that is `credits` places before its own.
  void findCreditors() {
    Queues queues(network);
    for (int64_t source = 0; source < queues.getRanks(); ++source)
      for (const Queue &queue : queues.getQueuesFrom(source))
        for (size_t i = credits; i < queue.sent.size(); ++i)
          ends[queue.sent[i].message].creditor =
              queue.sent[i - credits].message;
  }

  bool isDone(const Transfer &transfer) const {
    const Ends &end = ends[transfer.message];
    if (!transfer.isSend)
      return end.isSent;
    if (credits == 0)
      return end.isReceived;
    return end.isReceived || end.creditor < 0 || ends[end.creditor].isReceived;
  }

  ArrayRef<Network::Wait> getWaits(int64_t lane) const {
    const Network::Lane &of = network.lanes[lane];
    int64_t begin = next[lane] ? of.steps[next[lane] - 1].waitsEnd : 0;
    return ArrayRef(of.waits).slice(begin,
                                    of.steps[next[lane]].waitsEnd - begin);
  }
  ArrayRef<Transfer> getTransfers(int64_t lane, int64_t &begin) const {
    const Network::Lane &of = network.lanes[lane];
    begin = next[lane] ? of.steps[next[lane] - 1].transfersEnd : 0;
    return ArrayRef(of.transfers)
        .slice(begin, of.steps[next[lane]].transfersEnd - begin);
  }
  bool isMet(const Network::Wait &wait) const {
    return next[wait.lane] >= wait.steps;
  }

  void wake(int64_t lane) {
    if (isAwake[lane])
      return;
    isAwake[lane] = true;
    awake.push_back(lane);
  }

  void runLane(int64_t lane) {
    isAwake[lane] = false;
    int64_t begin = next[lane];
    advance(lane);
    if (next[lane] == begin)
      return;
    for (int64_t other : network.lanesOfRank[network.lanes[lane].rank])
      if (waitsFor[other] == lane)
        wake(other);
  }

  /// Returns false, and notes for which lane, if \p lane has to wait.
  bool awaitLanes(int64_t lane) {
    for (const Network::Wait &wait : getWaits(lane))
      if (!isMet(wait)) {
        waitsFor[lane] = wait.lane;
        return false;
      }
    waitsFor[lane] = -1;
    return true;
  }

  void post(const Transfer &transfer) {
    Ends &end = ends[transfer.message];
    (transfer.isSend ? end.isSent : end.isReceived) = true;
    // With credits, a receive may release a later send, which is on the same
    // lane as its own.
    wake(transfer.isSend ? end.recvLane : end.sendLane);
  }

  void advance(int64_t lane) {
    for (; !isAtEnd(lane); ++next[lane], hasPosted[lane] = false) {
      if (!hasPosted[lane] && !awaitLanes(lane))
        return;
      int64_t begin;
      ArrayRef<Transfer> transfers = getTransfers(lane, begin);
      if (!hasPosted[lane])
        for (const Transfer &transfer : transfers)
          post(transfer);
      hasPosted[lane] = true;
      if (!all_of(transfers,
                  [&](const Transfer &transfer) { return isDone(transfer); }))
        return;
    }
  }

  const Network &network;
  int64_t credits;
  std::vector<Ends> ends;
  /// Per lane, how many steps are done.
  std::vector<int64_t> next;
  std::vector<bool> hasPosted;
  /// Per lane, the other one whose steps it waits for, or -1.
  std::vector<int64_t> waitsFor;
  /// Lanes that may go on.
  SmallVector<int64_t> awake;
  std::vector<bool> isAwake;
};
} // namespace

Stall NetworkRun::getStall(int64_t lane, int64_t &blocker) const {
  const Network::Lane &of = network.lanes[lane];
  for (const Network::Wait &wait : getWaits(lane))
    if (!isMet(wait)) {
      blocker = wait.lane;
      return {of.rank, of.steps[next[lane]].action, of.rank, std::nullopt};
    }
  int64_t begin;
  for (auto [index, transfer] : enumerate(getTransfers(lane, begin)))
    if (!isDone(transfer)) {
      const Ends &end = ends[transfer.message];
      blocker = transfer.isSend ? end.recvLane : end.sendLane;
      return {of.rank, of.transferActions[begin + index], transfer.peer,
              transfer};
    }
  llvm_unreachable("the lane is not stalled");
}

std::vector<Stall> pipewright::findDeadlock(const Network &network,
                                            int64_t credits) {
  NetworkRun run(network, credits);
  run.run();
  int64_t lane = 0;
  int64_t lanes = network.lanes.size();
  while (lane < lanes && run.isAtEnd(lane))
    ++lane;
  if (lane == lanes)
    return {};

  // A stalled lane waits for one that is stalled too, so following them must
  // come to a lane seen before.
  std::vector<Stall> path;
  std::vector<int64_t> position(lanes, -1);
  while (position[lane] < 0) {
    position[lane] = path.size();
    int64_t blocker;
    path.push_back(run.getStall(lane, blocker));
    lane = blocker;
  }
  path.erase(path.begin(), path.begin() + position[lane]);
  return path;
}
