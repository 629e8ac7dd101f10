//===- GroupTransport.cpp - Some ranks of a transport ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport.h"

using namespace pprt;

namespace {
class GroupTransport : public Transport {
public:
  GroupTransport(Transport &whole, uint32_t first, uint32_t stride,
                 uint32_t count)
      : whole(whole), first(first), stride(stride), count(count) {}

  uint32_t getRank() const override {
    return (whole.getRank() - first) / stride;
  }
  uint32_t getSize() const override { return count; }
  uint32_t getTagLimit() const override { return whole.getTagLimit(); }
  std::string getHost() const override { return whole.getHost(); }

  Request startSend(uint32_t peer, uint32_t tag, const void *data,
                    uint64_t bytes) override {
    return whole.startSend(first + peer * stride, tag, data, bytes);
  }
  Request startRecv(uint32_t peer, uint32_t tag, void *data,
                    uint64_t bytes) override {
    return whole.startRecv(first + peer * stride, tag, data, bytes);
  }
  bool test(Request request) override { return whole.test(request); }

private:
  Transport &whole;
  uint32_t first, stride, count;
};
} // namespace

std::unique_ptr<Transport> pprt::createGroupTransport(Transport &whole,
                                                      uint32_t first,
                                                      uint32_t stride,
                                                      uint32_t count) {
  return std::make_unique<GroupTransport>(whole, first, stride, count);
}
