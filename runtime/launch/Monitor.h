//===- Monitor.h - Watches this rank and its peers --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that ends the process, with a message that says what this rank was
// doing, when
//   - a peer is lost                                  status 10
//   - this rank makes no progress for too long        status 11
//   - a peer gives up                                 that peer's status
//   - SIGTERM arrives                                 by that signal
// A launcher sends SIGTERM to all ranks when one dies; so the monitor looks for
// a lost peer for a while before it obeys.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_LAUNCH_MONITOR_H
#define PPRT_LAUNCH_MONITOR_H

#include "Lifeline.h"
#include "Progress.h"

#include <thread>

namespace pprt {

class Monitor {
public:
  /// Keeps SIGTERM for the monitor: to be called before any thread exists.
  static void reserveSignals();

  Monitor(const PprtDescriptor &descriptor, const Progress &progress,
          double timeoutSeconds);
  ~Monitor() { stop(); }

  /// Connects with the peers and starts the thread.
  void start(Transport &transport);

  /// Tells the peers that this rank ends in good order, and ends the thread.
  void stop();

private:
  void watch();
  void handleMessage(size_t line, const LifelineMessage &message);
  void checkProgress();
  void checkTermination();
  int64_t getTick() const;
  void tellPeers(LifelineMessage::Kind kind, uint32_t rank, ExitCode code);
  [[noreturn]] void losePeer(uint32_t peer, const char *how);
  [[noreturn]] void leave(ExitCode code, const std::string &message);

  const PprtDescriptor &descriptor;
  const Progress &progress;
  uint32_t rank = 0;       ///< among all processes
  int64_t timeout;         ///< nanoseconds
  int64_t terminateAt = 0; ///< when to obey SIGTERM; 0: not asked to
  int signalSocket = -1;
  int stopSocket = -1;
  std::vector<Lifeline> lifelines; ///< without those that ended in good order
  std::thread thread;
};

} // namespace pprt

#endif // PPRT_LAUNCH_MONITOR_H
