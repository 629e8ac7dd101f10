//===- LateTransport.h - Messages that wait to be waited for ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_TEST_LATETRANSPORT_H
#define PPRT_TEST_LATETRANSPORT_H

#include "launch/Transport.h"

#include <cstring>
#include <utility>
#include <vector>

/// Peers of rank 0 that take a message when somebody waits for it, and not
/// before.
class LateTransport : public pprt::Transport {
public:
  uint32_t getRank() const override { return 0; }
  uint32_t getSize() const override { return 2; }
  uint32_t getTagLimit() const override { return UINT32_MAX; }
  std::string getHost() const override { return "here"; }
  Request startSend(uint32_t, uint32_t, const void *data,
                    uint64_t bytes) override {
    memory.push_back({static_cast<const uint8_t *>(data), bytes});
    return memory.size() - 1;
  }
  Request startRecv(uint32_t, uint32_t, void *data, uint64_t bytes) override {
    memset(data, 0x55, bytes);
    return startSend(0, 0, data, bytes);
  }
  bool test(Request request) override {
    auto [data, bytes] = memory[request];
    taken.insert(taken.end(), data, data + bytes);
    return true;
  }

  std::vector<std::pair<const uint8_t *, uint64_t>> memory;
  std::vector<uint8_t> taken;
};

#endif // PPRT_TEST_LATETRANSPORT_H
