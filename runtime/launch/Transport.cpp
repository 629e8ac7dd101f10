//===- Transport.cpp - Messages between ranks -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport.h"

#include <algorithm>
#include <sched.h>
#include <time.h>

using namespace pprt;

Transport::~Transport() = default;

void Transport::wait(Request request) {
  // Most messages are there at once or within a task's time of the peer: look
  // first, then let other ranks of this machine run, then sleep in between.
  constexpr int yieldingTests = 400;
  constexpr timespec pause = {0, 20000};
  for (int tests = 0; !test(request); ++tests) {
    if (tests < yieldingTests)
      sched_yield();
    else
      nanosleep(&pause, nullptr);
  }
}

void Transport::send(uint32_t peer, uint32_t tag, const void *data,
                     uint64_t bytes) {
  const char *bytesLeft = static_cast<const char *>(data);
  do {
    uint64_t part = std::min(bytes, messageLimit);
    wait(startSend(peer, tag, bytesLeft, part));
    bytesLeft += part;
    bytes -= part;
  } while (bytes != 0);
}

void Transport::recv(uint32_t peer, uint32_t tag, void *data, uint64_t bytes) {
  char *bytesLeft = static_cast<char *>(data);
  do {
    uint64_t part = std::min(bytes, messageLimit);
    wait(startRecv(peer, tag, bytesLeft, part));
    bytesLeft += part;
    bytes -= part;
  } while (bytes != 0);
}
