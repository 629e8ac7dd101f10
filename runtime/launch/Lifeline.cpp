//===- Lifeline.cpp - Connections that break when a rank dies -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lifeline.h"
#include "Collectives.h"
#include "Progress.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace pprt;

static constexpr int connectMilliseconds = 2000;
static constexpr int64_t acceptNanoseconds = INT64_C(10000000000);

namespace {
/// Where rank 0 listens; sent to all ranks over MPI.
struct Rendezvous {
  static constexpr int maxAddresses = 8;
  uint64_t token = 0;
  uint16_t port = 0;
  uint16_t addressCount = 0;
  in_addr addresses[maxAddresses];
};
} // namespace

static void watchConnection(int socket) {
  int on = 1, idle = 10, interval = 5, probes = 4;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// The addresses of this machine: only the loopback one if all ranks are here.
static void listAddresses(bool oneHost, Rendezvous &rendezvous) {
  if (oneHost) {
    rendezvous.addresses[rendezvous.addressCount++].s_addr =
        htonl(INADDR_LOOPBACK);
    return;
  }
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) != 0)
    return;
  for (ifaddrs *item = list; item; item = item->ifa_next) {
    if (!item->ifa_addr || item->ifa_addr->sa_family != AF_INET ||
        rendezvous.addressCount == Rendezvous::maxAddresses)
      continue;
    in_addr address = reinterpret_cast<sockaddr_in *>(item->ifa_addr)->sin_addr;
    if (address.s_addr != htonl(INADDR_LOOPBACK))
      rendezvous.addresses[rendezvous.addressCount++] = address;
  }
  freeifaddrs(list);
}

/// Opens rank 0's socket; -1 if that is not possible.
static int openListener(bool oneHost, Rendezvous &rendezvous) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(oneHost ? INADDR_LOOPBACK : INADDR_ANY);
  socklen_t length = sizeof address;
  auto *generic = reinterpret_cast<sockaddr *>(&address);
  if (listener < 0 || bind(listener, generic, length) != 0 ||
      listen(listener, SOMAXCONN) != 0 ||
      getsockname(listener, generic, &length) != 0)
    return -1;
  rendezvous.port = address.sin_port;
  if (getrandom(&rendezvous.token, sizeof rendezvous.token, 0) < 0)
    return -1;
  listAddresses(oneHost, rendezvous);
  return listener;
}

static bool waitReadable(int socket, int milliseconds) {
  pollfd entry = {socket, POLLIN, 0};
  return poll(&entry, 1, milliseconds) == 1;
}

/// Accepts the other ranks until all are there or time is up.
static void acceptPeers(int listener, const Rendezvous &rendezvous,
                        uint32_t size, std::vector<Lifeline> &lifelines) {
  int64_t deadline = getMonotonicTime() + acceptNanoseconds;
  while (lifelines.size() + 1 < size) {
    int64_t left = (deadline - getMonotonicTime()) / 1000000;
    if (left <= 0 || !waitReadable(listener, left))
      return;
    int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0)
      continue;
    LifelineMessage hello = {};
    Lifeline lifeline = {0, socket};
    if (!waitReadable(socket, connectMilliseconds) ||
        !receiveMessage(lifeline, hello) ||
        hello.kind != LifelineMessage::Hello ||
        hello.token != rendezvous.token || hello.rank >= size) {
      close(socket);
      continue;
    }
    watchConnection(socket);
    lifeline.peer = hello.rank;
    lifelines.push_back(lifeline);
  }
}

static int connectTo(in_addr host, uint16_t port) {
  int connection =
      socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr = host;
  address.sin_port = port;
  connect(connection, reinterpret_cast<sockaddr *>(&address), sizeof address);
  pollfd entry = {connection, POLLOUT, 0};
  int error = 0;
  socklen_t length = sizeof error;
  if (poll(&entry, 1, connectMilliseconds) != 1 ||
      getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &length) != 0 ||
      error != 0) {
    close(connection);
    return -1;
  }
  fcntl(connection, F_SETFL, 0);
  return connection;
}

static void connectToFirst(uint32_t rank, const Rendezvous &rendezvous,
                           std::vector<Lifeline> &lifelines) {
  for (int i = 0; i < rendezvous.addressCount; ++i) {
    int socket = connectTo(rendezvous.addresses[i], rendezvous.port);
    if (socket < 0)
      continue;
    watchConnection(socket);
    lifelines.push_back({0, socket});
    LifelineMessage hello = {};
    hello.kind = LifelineMessage::Hello;
    hello.rank = rank;
    hello.token = rendezvous.token;
    sendMessage(lifelines.back(), hello);
    return;
  }
}

std::vector<uint32_t> pprt::connectLifelines(Transport &transport,
                                             std::vector<Lifeline> &lifelines) {
  uint32_t size = transport.getSize();
  std::vector<std::string> hosts = gatherText(transport, transport.getHost());
  Rendezvous rendezvous;
  int listener = -1;
  if (transport.getRank() == 0) {
    bool oneHost =
        std::all_of(hosts.begin(), hosts.end(),
                    [&](const std::string &host) { return host == hosts[0]; });
    listener = openListener(oneHost, rendezvous);
  }
  broadcast(transport, &rendezvous, sizeof rendezvous);
  if (transport.getRank() != 0) {
    connectToFirst(transport.getRank(), rendezvous, lifelines);
    return lifelines.empty() ? std::vector<uint32_t>{0}
                             : std::vector<uint32_t>();
  }
  std::vector<uint32_t> missing;
  if (listener >= 0) {
    acceptPeers(listener, rendezvous, size, lifelines);
    close(listener);
  }
  for (uint32_t rank = 1; rank < size; ++rank)
    if (std::none_of(lifelines.begin(), lifelines.end(),
                     [=](const Lifeline &line) { return line.peer == rank; }))
      missing.push_back(rank);
  return missing;
}

void pprt::sendMessage(const Lifeline &lifeline,
                       const LifelineMessage &message) {
  // A message always fits into the empty buffer of the socket.
  (void)!send(lifeline.socket, &message, sizeof message,
              MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool pprt::receiveMessage(const Lifeline &lifeline, LifelineMessage &message) {
  return recv(lifeline.socket, &message, sizeof message, MSG_WAITALL) ==
         ssize_t(sizeof message);
}
