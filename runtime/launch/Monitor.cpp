//===- Monitor.cpp - Watches this rank and its peers ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Monitor.h"
#include "log/Message.h"

#include <algorithm>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

using namespace pprt;

/// How long SIGTERM waits for news of a lost peer. OpenMPI kills after a
/// second.
static constexpr int64_t terminationDelay = 400000000;

/// How long a rank that gives up lets its peers learn of it, in nanoseconds.
static constexpr long exitDelay = 100000000;

static sigset_t getTerminationSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  return signals;
}

void Monitor::reserveSignals() {
  sigset_t signals = getTerminationSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Monitor::Monitor(const PprtDescriptor &descriptor, const Progress &progress,
                 double timeoutSeconds)
    : descriptor(descriptor), progress(progress),
      timeout(static_cast<int64_t>(std::min(timeoutSeconds, 1e9) * 1e9)) {}

void Monitor::start(Transport &transport) {
  rank = transport.getRank();
  for (uint32_t peer : connectLifelines(transport, lifelines))
    printMessage(rank, "warning: no connection with rank " +
                           std::to_string(peer) +
                           "; its loss will be found by the "
                           "timeout only");
  sigset_t signals = getTerminationSignals();
  signalSocket = signalfd(-1, &signals, SFD_CLOEXEC);
  stopSocket = eventfd(0, EFD_CLOEXEC);
  thread = std::thread([this] { watch(); });
}

void Monitor::stop() {
  if (!thread.joinable())
    return;
  uint64_t one = 1;
  (void)!write(stopSocket, &one, sizeof one);
  thread.join();
  tellPeers(LifelineMessage::Goodbye, rank, ExitCode::Done);
  for (const Lifeline &line : lifelines)
    close(line.socket);
  close(signalSocket);
  close(stopSocket);
}

/// How often to look at the clock, in nanoseconds.
int64_t Monitor::getTick() const {
  if (terminateAt != 0)
    return 10000000;
  return std::min<int64_t>(timeout / 8, 1000000000);
}

void Monitor::watch() {
  std::vector<pollfd> entries;
  while (true) {
    entries.clear();
    entries.push_back({stopSocket, POLLIN, 0});
    // Once is enough: the signal stays pending otherwise.
    entries.push_back({terminateAt ? -1 : signalSocket, POLLIN, 0});
    for (const Lifeline &line : lifelines)
      entries.push_back({line.socket, POLLIN, 0});
    poll(entries.data(), entries.size(),
         static_cast<int>(getTick() / 1000000) + 1);
    if (entries[0].revents != 0)
      return;
    if (entries[1].revents != 0)
      terminateAt = getMonotonicTime() + terminationDelay;
    // From the last to the first: handling one may remove it.
    for (size_t i = lifelines.size(); i-- > 0;) {
      if (entries[i + 2].revents == 0)
        continue;
      LifelineMessage message;
      if (receiveMessage(lifelines[i], message))
        handleMessage(i, message);
      else
        losePeer(lifelines[i].peer, "lost");
    }
    checkTermination();
    checkProgress();
  }
}

void Monitor::handleMessage(size_t line, const LifelineMessage &message) {
  switch (message.kind) {
  case LifelineMessage::Goodbye:
    break;
  case LifelineMessage::Terminated:
    // If this rank was asked to end as well, all were.
    if (terminateAt == 0)
      losePeer(message.rank, "terminated");
    break;
  case LifelineMessage::Lost:
    losePeer(message.rank, "lost");
  case LifelineMessage::Failed:
    if (rank == 0)
      tellPeers(LifelineMessage::Failed, message.rank,
                static_cast<ExitCode>(message.code));
    leave(static_cast<ExitCode>(message.code),
          "rank " + std::to_string(message.rank) +
              " gave up, while this rank was " + progress.describe(descriptor));
  default:
    return;
  }
  close(lifelines[line].socket);
  lifelines.erase(lifelines.begin() + line);
}

void Monitor::losePeer(uint32_t peer, const char *how) {
  if (rank == 0)
    tellPeers(LifelineMessage::Lost, peer, ExitCode::PeerLost);
  leave(ExitCode::PeerLost, "rank " + std::to_string(peer) + " was " + how +
                                " while this rank was " +
                                progress.describe(descriptor));
}

void Monitor::checkProgress() {
  int64_t age = getMonotonicTime() - progress.getSince();
  if (age < timeout)
    return;
  tellPeers(LifelineMessage::Failed, rank, ExitCode::NoProgress);
  leave(ExitCode::NoProgress,
        "no progress for " + std::to_string(age / 1000000000) +
            " seconds while " + progress.describe(descriptor));
}

void Monitor::checkTermination() {
  if (terminateAt == 0 || getMonotonicTime() < terminateAt)
    return;
  tellPeers(LifelineMessage::Terminated, rank, ExitCode::Done);
  // There is nothing to save: end as the signal says.
  signal(SIGTERM, SIG_DFL);
  sigset_t signals = getTerminationSignals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  pthread_kill(pthread_self(), SIGTERM);
}

void Monitor::tellPeers(LifelineMessage::Kind kind, uint32_t rank,
                        ExitCode code) {
  LifelineMessage message = {};
  message.kind = kind;
  message.rank = rank;
  message.code = static_cast<uint32_t>(code);
  for (const Lifeline &line : lifelines)
    if (line.peer != rank)
      sendMessage(line, message);
}

void Monitor::leave(ExitCode code, const std::string &message) {
  printMessage(rank, "error: " + message);
  // OpenMPI kills the others as soon as a few ranks have ended: let all of them
  // speak before the first one goes.
  constexpr timespec pause = {0, exitDelay};
  nanosleep(&pause, nullptr);
  // Not exit(): the other threads are in the middle of something.
  _exit(static_cast<int>(code));
}
