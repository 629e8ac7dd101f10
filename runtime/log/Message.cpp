//===- Message.cpp - Messages to the user on stderr -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Message.h"

#include <unistd.h>

void pprt::printMessage(uint32_t rank, const std::string &message) {
  if (message.empty())
    return;
  std::string line =
      "pprt: rank " + std::to_string(rank) + ": " + message + "\n";
  (void)!write(STDERR_FILENO, line.data(), line.size());
}
