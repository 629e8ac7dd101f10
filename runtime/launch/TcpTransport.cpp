//===- TcpTransport.cpp - Messages over TCP -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For launchers that give each process its rank and an address where to meet,
// and nothing else. All ranks connect with rank 0, which tells each where the
// others listen; then each connects with those before it. What devices send to
// each other does not pass here, only what ranks agree on.
//
//===----------------------------------------------------------------------===//

#include "Progress.h"
#include "Transport.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <deque>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

using namespace pprt;

static constexpr int64_t meetingNanoseconds = INT64_C(120000000000);
static constexpr timespec retryPause = {0, 50000000};

namespace {
/// The first bytes that a rank sends over a connection.
struct Hello {
  static constexpr uint64_t expected = UINT64_C(0x7069706577726974);
  uint64_t magic = expected;
  uint32_t rank = 0, size = 0;
  uint16_t port = 0; ///< where it listens
  uint16_t padding[3] = {};
};

/// Where a rank listens, as rank 0 sees it; in the order of the network.
struct Place {
  uint32_t address = 0;
  uint16_t port = 0;
  uint16_t padding = 0;
};

/// What precedes the bytes of a message.
struct Header {
  uint64_t bytes;
  uint32_t tag;
  uint32_t padding;
};

struct Outgoing {
  Header header;
  const char *data;
  uint64_t sent; ///< of the header and the data
  Transport::Request request;
};

struct Incoming {
  Header header;
  char *data;
  uint64_t room;
  Transport::Request request;
};

/// A message that nobody has asked for yet.
struct Early {
  Header header;
  std::vector<char> data;
};

struct Connection {
  int socket = -1;
  std::deque<Outgoing> outgoing;  ///< in order
  std::vector<Incoming> incoming; ///< asked for and not complete, in order
  std::deque<Early> early;        ///< in the order in which they came
  /// The message that is arriving, if `received` is not 0.
  uint64_t received = 0; ///< of the header and the data
  Header header = {};
  std::vector<char> arriving;
};

class TcpTransport : public Transport {
public:
  TcpTransport(uint32_t rank, uint32_t size)
      : rank(rank), size(size), connections(size) {}
  ~TcpTransport() override;

  Status meet(const std::string &address, const std::string &port);

  uint32_t getRank() const override { return rank; }
  uint32_t getSize() const override { return size; }
  uint32_t getTagLimit() const override { return UINT32_MAX; }
  std::string getHost() const override;

  Request startSend(uint32_t peer, uint32_t tag, const void *data,
                    uint64_t bytes) override;
  Request startRecv(uint32_t peer, uint32_t tag, void *data,
                    uint64_t bytes) override;
  bool test(Request request) override;

private:
  Status meetAsFirst(int listener);
  Status meetAsOther(const std::string &address, const std::string &port,
                     int listener);
  void makeProgress();
  void sendOn(Connection &connection);
  void receiveOn(Connection &connection);
  void deliver(Connection &connection);
  void complete(Request request) {
    pending.erase(std::find(pending.begin(), pending.end(), request));
  }

  uint32_t rank, size;
  std::vector<Connection> connections; ///< by rank; none with itself
  Request lastRequest = 0;
  std::vector<Request> pending;
};
} // namespace

//===----------------------------------------------------------------------===//
// The meeting
//===----------------------------------------------------------------------===//

static Status fail(const std::string &what) {
  return Status::error(ExitCode::Mismatch, what + ": " + strerror(errno));
}

/// Sends or receives all bytes; false if the peer is gone or time is up.
template <typename T>
static bool sendAll(int socket, const T *values, size_t count) {
  return send(socket, values, count * sizeof(T), MSG_NOSIGNAL) ==
         ssize_t(count * sizeof(T));
}
template <typename T>
static bool receiveAll(int socket, T *values, size_t count) {
  return recv(socket, values, count * sizeof(T), MSG_WAITALL) ==
         ssize_t(count * sizeof(T));
}

/// Until the meeting is over, nobody is waited for longer than for it.
static void limitWaiting(int socket, int64_t nanoseconds) {
  timeval limit = {nanoseconds / 1000000000, 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int listenAt(uint16_t port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = port;
  if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) ==
          0 &&
      listen(listener, SOMAXCONN) == 0)
    return listener;
  close(listener);
  return -1;
}

static uint16_t getPort(int listener) {
  sockaddr_in address = {};
  socklen_t length = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length);
  return address.sin_port;
}

/// Connects with who listens at \p place, or will soon; -1 when time is up.
static int connectTo(const Place &place, int64_t deadline) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = place.address;
  address.sin_port = place.port;
  do {
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection, reinterpret_cast<sockaddr *>(&address),
                sizeof address) == 0)
      return connection;
    close(connection);
    nanosleep(&retryPause, nullptr);
  } while (getMonotonicTime() < deadline);
  return -1;
}

/// Accepts a rank of this run; strangers are sent away. -1 when time is up.
static int acceptRank(int listener, uint32_t size, int64_t deadline,
                      Hello &hello, Place &place) {
  while (true) {
    int64_t left = (deadline - getMonotonicTime()) / 1000000;
    pollfd entry = {listener, POLLIN, 0};
    if (left <= 0 || poll(&entry, 1, static_cast<int>(left)) != 1) {
      errno = ETIMEDOUT;
      return -1;
    }
    sockaddr_in address = {};
    socklen_t length = sizeof address;
    int socket = accept4(listener, reinterpret_cast<sockaddr *>(&address),
                         &length, SOCK_CLOEXEC);
    if (socket < 0)
      continue;
    limitWaiting(socket, deadline - getMonotonicTime());
    if (receiveAll(socket, &hello, 1) && hello.magic == Hello::expected &&
        hello.size == size && hello.rank < size) {
      place = {address.sin_addr.s_addr, hello.port, 0};
      return socket;
    }
    close(socket);
  }
}

/// Accepts all other ranks, and tells each where they listen.
Status TcpTransport::meetAsFirst(int listener) {
  int64_t deadline = getMonotonicTime() + meetingNanoseconds;
  std::vector<Place> places(size);
  for (uint32_t count = 1; count < size; ++count) {
    Hello hello;
    Place place;
    int socket = acceptRank(listener, size, deadline, hello, place);
    if (socket < 0)
      return fail("waited for " + std::to_string(size) + " ranks, and only " +
                  std::to_string(count) + " came");
    if (hello.rank == 0 || connections[hello.rank].socket >= 0) {
      close(socket);
      return Status::error(ExitCode::Mismatch,
                           "two processes say that they are rank " +
                               std::to_string(hello.rank));
    }
    connections[hello.rank].socket = socket;
    places[hello.rank] = place;
  }
  for (uint32_t peer = 1; peer < size; ++peer)
    if (!sendAll(connections[peer].socket, places.data(), size))
      return fail("cannot tell rank " + std::to_string(peer) +
                  " where the others are");
  return Status();
}

static Status resolve(const std::string &address, const std::string &port,
                      Place &place) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  if (int error = getaddrinfo(address.c_str(), port.c_str(), &hints, &found))
    return Status::error(ExitCode::Mismatch, "cannot find '" + address + ":" +
                                                 port +
                                                 "': " + gai_strerror(error));
  auto *first = reinterpret_cast<sockaddr_in *>(found->ai_addr);
  place = {first->sin_addr.s_addr, first->sin_port, 0};
  freeaddrinfo(found);
  return Status();
}

/// Connects with rank 0, and with all others: those before it listen, those
/// after it call.
Status TcpTransport::meetAsOther(const std::string &address,
                                 const std::string &port, int listener) {
  int64_t deadline = getMonotonicTime() + meetingNanoseconds;
  std::vector<Place> places(size);
  if (Status status = resolve(address, port, places[0]); status.failed())
    return status;
  Hello mine;
  mine.rank = rank;
  mine.size = size;
  mine.port = getPort(listener);
  for (uint32_t peer = 0; peer < rank; ++peer) {
    int socket = connectTo(places[peer], deadline);
    if (socket < 0 || !sendAll(socket, &mine, 1))
      return fail("cannot reach rank " + std::to_string(peer));
    connections[peer].socket = socket;
    limitWaiting(socket, deadline - getMonotonicTime());
    if (peer == 0 && !receiveAll(socket, places.data(), size))
      return fail("rank 0 did not say where the other ranks are");
  }
  for (uint32_t count = rank + 1; count < size; ++count) {
    Hello hello;
    Place place;
    int socket = acceptRank(listener, size, deadline, hello, place);
    if (socket < 0)
      return fail("a rank after " + std::to_string(rank) + " did not call");
    connections[hello.rank].socket = socket;
  }
  return Status();
}

Status TcpTransport::meet(const std::string &address, const std::string &port) {
  uint16_t known = 0;
  if (rank == 0) {
    Place place;
    if (Status status = resolve(address, port, place); status.failed())
      return status;
    known = place.port;
  }
  int listener = listenAt(known);
  if (listener < 0)
    return fail("cannot listen at port " + port);
  Status status =
      rank == 0 ? meetAsFirst(listener) : meetAsOther(address, port, listener);
  close(listener);
  return status;
}

TcpTransport::~TcpTransport() {
  for (const Connection &connection : connections)
    if (connection.socket >= 0)
      close(connection.socket);
}

std::string TcpTransport::getHost() const {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Whether a call on a socket moved nothing because nothing can move now.
static bool mustWait(ssize_t moved) {
  if (moved > 0)
    return false;
  if (moved == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
    loseMessage();
  return true;
}

void TcpTransport::sendOn(Connection &connection) {
  while (!connection.outgoing.empty()) {
    Outgoing &next = connection.outgoing.front();
    bool inHeader = next.sent < sizeof(Header);
    const char *from =
        inHeader ? reinterpret_cast<const char *>(&next.header) + next.sent
                 : next.data + (next.sent - sizeof(Header));
    uint64_t end =
        inHeader ? sizeof(Header) : sizeof(Header) + next.header.bytes;
    if (next.sent < end) {
      ssize_t moved = ::send(connection.socket, from, end - next.sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
      if (mustWait(moved))
        return;
      next.sent += moved;
    }
    if (next.sent < sizeof(Header) + next.header.bytes)
      continue;
    complete(next.request);
    connection.outgoing.pop_front();
  }
}

/// Gives the messages that came to those who asked for them.
void TcpTransport::deliver(Connection &connection) {
  auto &incoming = connection.incoming;
  for (auto early = connection.early.begin();
       early != connection.early.end();) {
    auto found = std::find_if(incoming.begin(), incoming.end(),
                              [&](const Incoming &asked) {
                                return asked.header.tag == early->header.tag;
                              });
    if (found == incoming.end()) {
      ++early;
      continue;
    }
    memcpy(found->data, early->data.data(),
           std::min<uint64_t>(found->room, early->data.size()));
    complete(found->request);
    incoming.erase(found);
    early = connection.early.erase(early);
  }
}

void TcpTransport::receiveOn(Connection &connection) {
  while (true) {
    bool inHeader = connection.received < sizeof(Header);
    char *to = inHeader ? reinterpret_cast<char *>(&connection.header) +
                              connection.received
                        : connection.arriving.data() +
                              (connection.received - sizeof(Header));
    uint64_t end = sizeof(Header) + (inHeader ? 0 : connection.header.bytes);
    if (connection.received < end) {
      ssize_t moved = ::recv(connection.socket, to, end - connection.received,
                             MSG_DONTWAIT);
      if (mustWait(moved))
        return;
      connection.received += moved;
    }
    if (inHeader && connection.received == sizeof(Header))
      connection.arriving.resize(connection.header.bytes);
    if (connection.received < sizeof(Header) + connection.header.bytes ||
        connection.received < sizeof(Header))
      continue;
    connection.early.push_back(
        {connection.header, std::move(connection.arriving)});
    connection.arriving.clear();
    connection.received = 0;
    deliver(connection);
    if (connection.incoming.empty())
      return;
  }
}

/// Receives only for those who ask: a peer may end once it has what it wants.
void TcpTransport::makeProgress() {
  for (Connection &connection : connections) {
    sendOn(connection);
    if (!connection.incoming.empty())
      receiveOn(connection);
  }
}

Transport::Request TcpTransport::startSend(uint32_t peer, uint32_t tag,
                                           const void *data, uint64_t bytes) {
  Request request = ++lastRequest;
  pending.push_back(request);
  connections[peer].outgoing.push_back({{bytes, tag, 0},
                                        static_cast<const char *>(data),
                                        /*sent=*/0,
                                        request});
  makeProgress();
  return request;
}

Transport::Request TcpTransport::startRecv(uint32_t peer, uint32_t tag,
                                           void *data, uint64_t bytes) {
  Request request = ++lastRequest;
  pending.push_back(request);
  connections[peer].incoming.push_back(
      {{bytes, tag, 0}, static_cast<char *>(data), bytes, request});
  deliver(connections[peer]);
  makeProgress();
  return request;
}

bool TcpTransport::test(Request request) {
  auto isDone = [&] {
    return std::find(pending.begin(), pending.end(), request) == pending.end();
  };
  if (isDone())
    return true;
  makeProgress();
  return isDone();
}

Status pprt::createTcpTransport(const TcpMeeting &meeting,
                                std::unique_ptr<Transport> &result) {
  auto made = std::make_unique<TcpTransport>(meeting.rank, meeting.size);
  if (Status status = made->meet(meeting.address, meeting.port);
      status.failed())
    return status;
  result = std::move(made);
  return Status();
}
