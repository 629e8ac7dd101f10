//===- ThreadTransport.cpp - Messages within a process --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>

using namespace pprt;

namespace {
struct Message {
  uint32_t source, target, tag;
  bool isSend;
  void *data;
  uint64_t bytes;
  Transport::Request request = 0;

  bool meets(const Message &other) const {
    return source == other.source && target == other.target &&
           tag == other.tag && isSend != other.isSend;
  }
};

/// Where the ranks of a process meet. A send and a receive of one tag do in the
/// order in which each started; whoever comes second copies.
class Exchange {
public:
  Transport::Request start(Message message) {
    std::lock_guard<std::mutex> lock(mutex);
    message.request = ++lastRequest;
    auto found =
        std::find_if(waiting.begin(), waiting.end(), [&](const Message &other) {
          return message.meets(other);
        });
    if (found == waiting.end()) {
      waiting.push_back(message);
      return message.request;
    }
    const Message &from = message.isSend ? message : *found;
    const Message &to = message.isSend ? *found : message;
    memcpy(to.data, from.data, std::min(from.bytes, to.bytes));
    waiting.erase(found);
    return message.request;
  }

  bool test(Transport::Request request) {
    std::lock_guard<std::mutex> lock(mutex);
    return std::none_of(
        waiting.begin(), waiting.end(),
        [=](const Message &message) { return message.request == request; });
  }

private:
  std::mutex mutex;
  Transport::Request lastRequest = 0;
  std::list<Message> waiting; ///< for their counterpart, oldest first
};

class ThreadTransport : public Transport {
public:
  ThreadTransport(std::shared_ptr<Exchange> exchange, uint32_t rank,
                  uint32_t size)
      : exchange(std::move(exchange)), rank(rank), size(size) {}

  uint32_t getRank() const override { return rank; }
  uint32_t getSize() const override { return size; }
  uint32_t getTagLimit() const override { return UINT32_MAX; }
  std::string getHost() const override { return "localhost"; }

  Request startSend(uint32_t peer, uint32_t tag, const void *data,
                    uint64_t bytes) override {
    // Only read from.
    return exchange->start(
        {rank, peer, tag, /*isSend=*/true, const_cast<void *>(data), bytes});
  }
  Request startRecv(uint32_t peer, uint32_t tag, void *data,
                    uint64_t bytes) override {
    return exchange->start({peer, rank, tag, /*isSend=*/false, data, bytes});
  }
  bool test(Request request) override { return exchange->test(request); }

private:
  std::shared_ptr<Exchange> exchange;
  uint32_t rank, size;
};
} // namespace

std::vector<std::unique_ptr<Transport>>
pprt::createThreadTransports(uint32_t size) {
  auto exchange = std::make_shared<Exchange>();
  std::vector<std::unique_ptr<Transport>> transports;
  for (uint32_t rank = 0; rank < size; ++rank)
    transports.push_back(
        std::make_unique<ThreadTransport>(exchange, rank, size));
  return transports;
}

std::unique_ptr<Transport> pprt::createSelfTransport() {
  return std::move(createThreadTransports(1).front());
}
