//===- NetworkBuilder.cpp - Spreads actions over lanes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Network.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipewright;

static bool hasStreams(Transport transport) {
  return transport >= Transport::Stream;
}

NetworkBuilder::NetworkBuilder(int64_t ranks, int64_t messages,
                               Transport transport, bool withComputing)
    : withComputing(withComputing || hasStreams(transport)), keys(ranks),
      isOpen(ranks, false) {
  network.messages = messages;
  network.transport = transport;
  network.lanesOfRank.resize(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    network.lanesOfRank[rank].push_back(rank);
    network.lanes.push_back({rank});
    keys[rank].emplace_back();
  }
  if (hasStreams(transport))
    receipts.assign(messages, {-1, 0});
}

void NetworkBuilder::addStep(int64_t lane, int64_t action) {
  Network::Lane &target = network.lanes[lane];
  target.steps.push_back({action, static_cast<int64_t>(target.waits.size()),
                          static_cast<int64_t>(target.transfers.size())});
}

void NetworkBuilder::addTransfer(int64_t lane, int64_t action,
                                 const Transfer &transfer) {
  Network::Lane &target = network.lanes[lane];
  target.transfers.push_back(transfer);
  target.transferActions.push_back(action);
  ++target.steps.back().transfersEnd;
}

void NetworkBuilder::addCompute(int64_t rank, int64_t action,
                                ArrayRef<int64_t> uses) {
  isOpen[rank] = false;
  if (!withComputing)
    return;
  addStep(/*lane=*/rank, action);
  // Where calls wait for their transfers, computing waits for nothing.
  if (!hasStreams(network.transport))
    return;
  Network::Lane &lane = network.lanes[rank];
  for (int64_t use : uses)
    // Another rank may have received what this one made.
    if (receipts[use].lane >= 0 &&
        network.lanes[receipts[use].lane].rank == rank) {
      lane.waits.push_back(receipts[use]);
      ++lane.steps.back().waitsEnd;
    }
}

void NetworkBuilder::addTransfers(int64_t rank, int64_t action,
                                  ArrayRef<Transfer> transfers) {
  if (!hasStreams(network.transport)) {
    if (network.transport != Transport::Grouped || !isOpen[rank])
      addStep(/*lane=*/rank, action);
    isOpen[rank] = true;
    for (const Transfer &transfer : transfers)
      addTransfer(/*lane=*/rank, action, transfer);
    return;
  }
  int64_t computed = network.lanes[rank].steps.size();
  SmallVector<int64_t, 4> opened;
  for (const Transfer &transfer : transfers) {
    int64_t lane = getStream(rank, transfer);
    Network::Lane &stream = network.lanes[lane];
    if (!is_contained(opened, lane)) {
      opened.push_back(lane);
      addStep(lane, action);
      stream.waits.push_back({/*lane=*/rank, computed});
      ++stream.steps.back().waitsEnd;
    }
    addTransfer(lane, action, transfer);
    if (!transfer.isSend)
      receipts[transfer.message] = {lane,
                                    static_cast<int64_t>(stream.steps.size())};
  }
}

NetworkBuilder::StreamKey
NetworkBuilder::getStreamKey(const Transfer &transfer) const {
  StreamKey key;
  Transport transport = network.transport;
  if (transport == Transport::StreamPerPeer ||
      transport >= Transport::StreamPerPeerKind)
    key.peer = transfer.peer;
  if (hasQueuePerKind(transport))
    key.kind = static_cast<int8_t>(transfer.kind);
  if (transport == Transport::StreamPerChannel)
    key.isSend = transfer.isSend;
  return key;
}

int64_t NetworkBuilder::getStream(int64_t rank, const Transfer &transfer) {
  StreamKey key = getStreamKey(transfer);
  // A rank has few streams. The first lane is not one.
  for (size_t i = 1; i < keys[rank].size(); ++i)
    if (keys[rank][i] == key)
      return network.lanesOfRank[rank][i];
  int64_t lane = network.lanes.size();
  network.lanes.push_back({rank});
  network.lanesOfRank[rank].push_back(lane);
  keys[rank].push_back(key);
  return lane;
}
