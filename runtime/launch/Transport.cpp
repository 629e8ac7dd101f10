//===- Transport.cpp - Messages between ranks -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport.h"
#include "Pause.h"

#include <algorithm>

using namespace pprt;

Transport::~Transport() = default;

void Transport::wait(Request request) {
  Pause pause;
  while (!test(request))
    pause();
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
