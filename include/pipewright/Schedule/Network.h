//===- Network.h - Do the ranks' messages reach the end? --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks as lanes that only compute, send and receive, each in a fixed
// order. Such a network behaves the same however the lanes are interleaved, so
// one run of it decides for all runs whether it deadlocks.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_NETWORK_H
#define PIPEWRIGHT_SCHEDULE_NETWORK_H

#include "pipewright/Schedule/Transport.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace pipewright {

/// One end of a message.
struct Transfer {
  bool isSend;
  MessageKind kind;
  int64_t peer;
  /// The same on both ends and in no other transfer.
  int64_t message;
};

/// Lanes of all ranks; NetworkBuilder makes them.
struct Network {
  /// What one lane does next: waits, then posts its transfers together, then
  /// waits until they are done.
  struct Step {
    /// For the caller: which of the rank's actions this is. A step that holds
    /// the transfers of several actions has that of the first one.
    int64_t action;
    /// Where the step's part of `waits` and of `transfers` ends; it begins
    /// where that of the step before ends.
    int64_t waitsEnd;
    int64_t transfersEnd;
  };
  /// Another lane of the rank has done so many steps.
  struct Wait {
    int64_t lane;
    int64_t steps;
  };
  struct Lane {
    int64_t rank;
    std::vector<Step> steps = {};
    std::vector<Wait> waits = {};
    std::vector<Transfer> transfers = {};
    /// The caller's action of each transfer.
    std::vector<int64_t> transferActions = {};
  };
  std::vector<Lane> lanes;
  /// Per rank, its lanes; the first one computes, or does everything.
  std::vector<llvm::SmallVector<int64_t, 4>> lanesOfRank;
  /// Messages are numbered from 0.
  int64_t messages = 0;
  Transport transport = Transport::Blocking;
};

/// Spreads the actions of each rank over lanes as a transport does.
class NetworkBuilder {
public:
  /// Without \p withComputing, computing makes no steps where nothing waits
  /// for it.
  NetworkBuilder(int64_t ranks, int64_t messages, Transport transport,
                 bool withComputing = false);

  /// The rank computes, with the messages \p uses, some of which may have been
  /// made by the rank itself.
  void addCompute(int64_t rank, int64_t action, llvm::ArrayRef<int64_t> uses);
  /// The rank posts \p transfers together.
  void addTransfers(int64_t rank, int64_t action,
                    llvm::ArrayRef<Transfer> transfers);

  Network take() { return std::move(network); }

private:
  /// The stream of \p rank that carries \p transfer.
  int64_t getStream(int64_t rank, const Transfer &transfer);
  void addStep(int64_t lane, int64_t action);
  void addTransfer(int64_t lane, int64_t action, const Transfer &transfer);

  /// What tells the streams of a rank apart; -1 where a transport does not.
  struct StreamKey {
    int64_t peer = -1;
    int8_t kind = -1;
    int8_t isSend = -1;
    bool operator==(const StreamKey &other) const {
      return peer == other.peer && kind == other.kind && isSend == other.isSend;
    }
  };
  StreamKey getStreamKey(const Transfer &transfer) const;

  Network network;
  bool withComputing;
  /// Parallel to Network::lanesOfRank; the first entry of each is unused.
  std::vector<llvm::SmallVector<StreamKey, 4>> keys;
  /// Per rank, whether its last step may take more transfers (Grouped).
  std::vector<bool> isOpen;
  /// Per message, the step that receives it, on a stream.
  std::vector<Network::Wait> receipts;
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

/// For each queue of messages from one rank to another, the first place where
/// the order of sends is not the order of receives (a transport that matches
/// messages by order would deliver the wrong one). A pair of ranks has one
/// queue, or one per kind where the transport keeps kinds apart.
std::vector<OrderFault> checkOrder(const Network &network);

/// A lane that cannot go on.
struct Stall {
  int64_t rank;
  int64_t action;
  /// The rank that it waits for: that of the next stall.
  int64_t peer;
  /// The transfer that it waits to finish. Without one it waits, before its
  /// action, for the next stall's action of the same rank to finish.
  std::optional<Transfer> transfer;
};

/// Runs \p network, in which each message has one send and one receive. A send
/// is done when its receive is posted or, if checkOrder finds no fault, at most
/// \p credits messages of its queue are posted before being asked for.
///
/// Returns nothing if all lanes reach the end, and otherwise a cycle: each lane
/// waits for the next one, the last for the first.
std::vector<Stall> findDeadlock(const Network &network, int64_t credits);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_NETWORK_H
