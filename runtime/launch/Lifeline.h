//===- Lifeline.h - Connections that break when a rank dies -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MPI tells nobody that a process died: launchers kill the others, without a
// word. So each rank also has a TCP connection with rank 0, over which nothing
// is sent while all is well. The system closes the connections of a process
// that dies, whatever it died of, within milliseconds; that of a machine that
// dies, after half a minute without an answer.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_LAUNCH_LIFELINE_H
#define PPRT_LAUNCH_LIFELINE_H

#include "Transport.h"

#include <vector>

namespace pprt {

/// What is sent over a lifeline.
struct LifelineMessage {
  enum Kind : uint32_t {
    Hello,      ///< the first; `token` proves that a rank of this run calls
    Goodbye,    ///< `rank` ends in good order
    Terminated, ///< `rank` ends because it was asked to by a signal
    Lost,       ///< `rank` died
    Failed,     ///< `rank` gave up with status `code`
  };
  uint32_t kind;
  uint32_t rank;
  uint32_t code;
  uint32_t padding;
  uint64_t token;
};

struct Lifeline {
  uint32_t peer;
  int socket; ///< owned by whoever keeps the list
};

/// Connects all ranks with rank 0; \p lifelines has rank 0's with each other
/// rank there, and the one with rank 0 elsewhere. Returns the ranks without.
std::vector<uint32_t> connectLifelines(Transport &transport,
                                       std::vector<Lifeline> &lifelines);

/// Sends without waiting; a broken lifeline is found when it is read.
void sendMessage(const Lifeline &lifeline, const LifelineMessage &message);

/// Receives what has arrived; false at the end of the connection.
bool receiveMessage(const Lifeline &lifeline, LifelineMessage &message);

} // namespace pprt

#endif // PPRT_LAUNCH_LIFELINE_H
