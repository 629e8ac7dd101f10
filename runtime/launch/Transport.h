//===- Transport.h - Messages between ranks ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_LAUNCH_TRANSPORT_H
#define PPRT_LAUNCH_TRANSPORT_H

#include "pprt/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pprt {

/// Point-to-point messages. All else is built on them, so that each wait is
/// one the watchdog sees and each sum has one order.
///
/// Messages from one rank to another with one tag arrive in the order in which
/// they were sent. The memory of a message belongs to the transport until the
/// request is complete.
class Transport {
public:
  using Request = uint32_t;
  static constexpr Request noRequest = UINT32_MAX;
  /// Most bytes of one message.
  static constexpr uint64_t messageLimit = uint64_t(1) << 30;

  virtual ~Transport();

  virtual uint32_t getRank() const = 0;
  virtual uint32_t getSize() const = 0;
  /// The largest tag.
  virtual uint32_t getTagLimit() const = 0;
  /// Where this process runs: equal for ranks that share a machine.
  virtual std::string getHost() const = 0;

  virtual Request startSend(uint32_t peer, uint32_t tag, const void *data,
                            uint64_t bytes) = 0;
  virtual Request startRecv(uint32_t peer, uint32_t tag, void *data,
                            uint64_t bytes) = 0;
  /// True once the request is complete; it is then forgotten.
  virtual bool test(Request request) = 0;

  /// Waits until the request is complete. Gives the processor away while it
  /// waits: there may be more ranks than cores.
  void wait(Request request);

  /// Sends or receives any number of bytes and waits for it.
  void send(uint32_t peer, uint32_t tag, const void *data, uint64_t bytes);
  void recv(uint32_t peer, uint32_t tag, void *data, uint64_t bytes);
};

/// Those of \p whole, which outlives it, that are \p first, \p first +
/// \p stride, ..., \p count of them with the calling rank: numbered anew, from
/// 0 on.
std::unique_ptr<Transport> createGroupTransport(Transport &whole,
                                                uint32_t first, uint32_t stride,
                                                uint32_t count);

/// A message failed: gives the monitor time to name the peer that was lost, and
/// to end the process, and then ends it.
[[noreturn]] void loseMessage();

/// \p size ranks that are threads of this process.
std::vector<std::unique_ptr<Transport>> createThreadTransports(uint32_t size);

/// One rank, without MPI: its only peer is itself.
std::unique_ptr<Transport> createSelfTransport();

/// How processes find each other without MPI.
struct TcpMeeting {
  uint32_t rank = 0, size = 1;
  std::string address, port; ///< of rank 0
};

/// TCP; waits for the other ranks.
Status createTcpTransport(const TcpMeeting &meeting,
                          std::unique_ptr<Transport> &result);

/// MPI; initializes it, and finalizes it with the object.
Status createMpiTransport(std::unique_ptr<Transport> &result);

} // namespace pprt

#endif // PPRT_LAUNCH_TRANSPORT_H
