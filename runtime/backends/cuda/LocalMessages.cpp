//===- LocalMessages.cpp - Messages between threads on one device ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The receiver copies from where the sender has the value. Their threads meet
// at each message, to know each other's events; their streams only wait for
// these.
//
//===----------------------------------------------------------------------===//

#include "Messages.h"
#include "Stream.h"
#include "launch/Collectives.h"

#include <condition_variable>
#include <list>
#include <mutex>

using namespace pprt;
using namespace pprt::cuda;

namespace {
/// A value that is ready to be copied.
struct Offer {
  uint32_t source, target, tag;
  const void *data;
  cudaEvent_t ready;
  cudaEvent_t copied;
  bool isTaken = false; ///< `copied` has been recorded
};

/// Where the threads of all ranks meet.
class Meeting {
public:
  /// Returns once the receiver has put its copy onto a stream.
  void offer(Offer &mine) {
    std::unique_lock<std::mutex> lock(mutex);
    offers.push_back(&mine);
    changed.notify_all();
    changed.wait(lock, [&] { return mine.isTaken; });
  }

  /// Calls \p copy with the first such offer, once there is one.
  template <typename CopyT>
  void take(uint32_t source, uint32_t target, uint32_t tag, CopyT copy) {
    std::unique_lock<std::mutex> lock(mutex);
    auto found = offers.end();
    changed.wait(lock, [&] {
      found = std::find_if(offers.begin(), offers.end(), [=](Offer *offer) {
        return offer->source == source && offer->target == target &&
               offer->tag == tag;
      });
      return found != offers.end();
    });
    Offer *offer = *found;
    offers.erase(found);
    copy(*offer);
    offer->isTaken = true;
    changed.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::list<Offer *> offers; ///< oldest first
};

class LocalMessages : public Messages {
public:
  explicit LocalMessages(const DeviceSetup &setup)
      : rank(setup.transport.getRank()), transport(setup.transport) {}
  ~LocalMessages() override;

  Status connect() override;
  void send(const DeviceMessage &message, Lane lane,
            cudaStream_t stream) override;
  void receive(const DeviceMessage &message, Lane lane,
               cudaStream_t stream) override;
  void exchange(const BlockExchange &exchange, cudaStream_t stream) override;
  bool addsUp() const override { return false; }
  Status poll() override { return Status(); }

private:
  /// Recorded anew for each message of the lane: who waits has seen the record
  /// before the threads part.
  struct Events {
    cudaEvent_t ready = nullptr, copied = nullptr;
  };

  uint32_t rank;
  Transport &transport;
  std::unique_ptr<Meeting> owned; ///< by rank 0
  Meeting *meeting = nullptr;
  Events events[laneCount];
};
} // namespace

LocalMessages::~LocalMessages() {
  for (Events &lane : events)
    for (cudaEvent_t event : {lane.ready, lane.copied})
      if (event)
        cudaEventDestroy(event);
}

Status LocalMessages::connect() {
  if (rank == 0)
    owned = std::make_unique<Meeting>();
  meeting = owned.get();
  // One process: an address is as good here as there.
  broadcast(transport, &meeting, sizeof meeting);
  for (Events &lane : events)
    for (cudaEvent_t *event : {&lane.ready, &lane.copied})
      check(cudaEventCreateWithFlags(event, cudaEventDisableTiming),
            "cannot create an event");
  return Status();
}

void LocalMessages::send(const DeviceMessage &message, Lane lane,
                         cudaStream_t stream) {
  Offer offer = {rank,         message.peer,       message.tag,
                 message.data, events[lane].ready, events[lane].copied};
  check(cudaEventRecord(offer.ready, stream), "cannot record an event");
  meeting->offer(offer);
  check(cudaStreamWaitEvent(stream, offer.copied, 0),
        "cannot wait for an event");
}

void LocalMessages::receive(const DeviceMessage &message, Lane,
                            cudaStream_t stream) {
  meeting->take(message.peer, rank, message.tag, [&](const Offer &offer) {
    check(cudaStreamWaitEvent(stream, offer.ready, 0),
          "cannot wait for an event");
    check(cudaMemcpyAsync(message.data, offer.data, message.bytes,
                          cudaMemcpyDeviceToDevice, stream),
          "cannot receive");
    check(cudaEventRecord(offer.copied, stream), "cannot record an event");
  });
}

/// Pairs meet in one order of all pairs, so that no two wait for each other.
void LocalMessages::exchange(const BlockExchange &exchange,
                             cudaStream_t stream) {
  uint64_t bytes = exchange.blockBytes;
  for (uint32_t place = 0; place < exchange.peers.size(); ++place) {
    uint8_t *sent = exchange.sent + place * bytes;
    uint8_t *received = exchange.received + place * bytes;
    if (place == exchange.place) {
      check(cudaMemcpyAsync(received, sent, bytes, cudaMemcpyDeviceToDevice,
                            stream),
            "cannot exchange rows");
      continue;
    }
    DeviceMessage message = {Activity::SendRows,
                             exchange.index,
                             exchange.microbatch,
                             exchange.peers[place],
                             exchange.tag,
                             sent,
                             bytes};
    bool isFirst = exchange.place < place;
    if (isFirst)
      send(message, Exchanges, stream);
    message.data = received;
    receive(message, Exchanges, stream);
    message.data = sent;
    if (!isFirst)
      send(message, Exchanges, stream);
  }
}

std::unique_ptr<Messages> cuda::createLocalMessages(const DeviceSetup &setup) {
  return std::make_unique<LocalMessages>(setup);
}
