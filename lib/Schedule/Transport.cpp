//===- Transport.cpp - How messages travel between ranks
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Transport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace pipewright;

ArrayRef<Transport> pipewright::getTransports() {
  static constexpr Transport transports[] = {
      Transport::Blocking,        Transport::Grouped,
      Transport::Stream,          Transport::StreamPerPeer,
      Transport::StreamPerKind,   Transport::StreamPerPeerKind,
      Transport::StreamPerChannel};
  return transports;
}

StringRef pipewright::getName(Transport transport) {
  static constexpr StringLiteral names[] = {
      "blocking",          "grouped",         "stream",
      "stream-per-peer",   "stream-per-kind", "stream-per-peer-kind",
      "stream-per-channel"};
  return names[static_cast<size_t>(transport)];
}

std::optional<Transport> pipewright::parseTransport(StringRef name) {
  for (Transport transport : getTransports())
    if (getName(transport) == name)
      return transport;
  return std::nullopt;
}

std::string pipewright::listTransports() {
  return join(map_range(getTransports(),
                        [](Transport transport) { return getName(transport); }),
              ", ");
}

bool pipewright::hasQueuePerKind(Transport transport) {
  return transport >= Transport::StreamPerKind;
}
