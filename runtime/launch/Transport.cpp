//===- Transport.cpp - Messages between ranks -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport.h"
#include "Pause.h"

#include <algorithm>
#include <unistd.h>

using namespace pprt;

Transport::~Transport() = default;

void pprt::loseMessage() {
  for (int seconds = 0; seconds < 3; ++seconds)
    sleep(1);
  static const char message[] = "pprt: a message to or from a rank failed\n";
  (void)!write(STDERR_FILENO, message, sizeof message - 1);
  _exit(static_cast<int>(ExitCode::PeerLost));
}

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
