//===- SelfTransport.cpp - One rank, without MPI --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace pprt;

namespace {
/// A send and a receive of one tag meet in the order in which each started.
class SelfTransport : public Transport {
public:
  uint32_t getRank() const override { return 0; }
  uint32_t getSize() const override { return 1; }
  uint32_t getTagLimit() const override { return UINT32_MAX; }
  std::string getHost() const override { return "localhost"; }

  Request startSend(uint32_t, uint32_t tag, const void *data,
                    uint64_t bytes) override {
    // Only read from.
    return start({/*isSend=*/true, tag, const_cast<void *>(data), bytes});
  }
  Request startRecv(uint32_t, uint32_t tag, void *data,
                    uint64_t bytes) override {
    return start({/*isSend=*/false, tag, data, bytes});
  }
  bool test(Request request) override;

private:
  struct Message {
    bool isSend;
    uint32_t tag;
    void *data;
    uint64_t bytes;
    Request request = 0;
  };
  Request start(Message message);

  Request lastRequest = 0;
  std::vector<Message> waiting; ///< for their counterpart, oldest first
};
} // namespace

Transport::Request SelfTransport::start(Message message) {
  message.request = ++lastRequest;
  for (auto it = waiting.begin(); it != waiting.end(); ++it) {
    if (it->isSend == message.isSend || it->tag != message.tag)
      continue;
    Message &source = message.isSend ? message : *it;
    Message &target = message.isSend ? *it : message;
    memcpy(target.data, source.data, std::min(source.bytes, target.bytes));
    waiting.erase(it);
    return message.request;
  }
  waiting.push_back(message);
  return message.request;
}

bool SelfTransport::test(Request request) {
  return std::none_of(
      waiting.begin(), waiting.end(),
      [=](const Message &message) { return message.request == request; });
}

std::unique_ptr<Transport> pprt::createSelfTransport() {
  return std::make_unique<SelfTransport>();
}
