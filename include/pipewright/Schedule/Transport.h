//===- Transport.h - How messages travel between ranks ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a schedule's messages can wait for depends on the calls that carry them.
// All models are rendezvous: a message moves when both of its ends are ready.
// Streams run beside the computation: a rank posts a transfer on a stream when
// all that its program has before it is computed, the transfers of one stream
// follow each other, and an action waits for the messages that it uses.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_TRANSPORT_H
#define PIPEWRIGHT_SCHEDULE_TRANSPORT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pipewright {

enum class MessageKind : uint8_t { Activation, Gradient };

enum class Transport : uint8_t {
  /// Each send and receive is a call that returns when it is done.
  Blocking,
  /// All transfers between two computing actions are posted together; the rank
  /// goes on when all are done.
  Grouped,
  /// A stream per rank.
  Stream,
  /// A stream per peer, as with one NCCL communicator per pair of ranks.
  StreamPerPeer,
  /// A stream for activations and one for gradients.
  StreamPerKind,
  /// A stream per peer and kind.
  StreamPerPeerKind,
  /// A stream per source, target and kind.
  StreamPerChannel
};

/// All transports, from the one that can wait most.
llvm::ArrayRef<Transport> getTransports();

/// "blocking", "stream-per-peer": what users type.
llvm::StringRef getName(Transport transport);
std::optional<Transport> parseTransport(llvm::StringRef name);
/// "blocking, grouped, ...": all names, for diagnostics.
std::string listTransports();

/// Whether the messages from one rank to another are one queue, in which the
/// n-th send meets the n-th receive, or one queue per kind.
bool hasQueuePerKind(Transport transport);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_TRANSPORT_H
