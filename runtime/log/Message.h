//===- Message.h - Messages to the user on stderr ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_LOG_MESSAGE_H
#define PPRT_LOG_MESSAGE_H

#include <cstdint>
#include <string>

namespace pprt {

/// Writes "pprt: rank 2: message" to stderr at once, so that the messages of
/// several ranks and threads do not mix. Empty messages are not written.
void printMessage(uint32_t rank, const std::string &message);

} // namespace pprt

#endif // PPRT_LOG_MESSAGE_H
