//===- Collectives.cpp - What all ranks do together -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Collectives.h"

#include <cstring>

using namespace pprt;

void pprt::gather(Transport &transport, const void *mine, uint64_t bytes,
                  void *all) {
  if (transport.getRank() != 0) {
    transport.send(0, CollectiveTag, mine, bytes);
    return;
  }
  char *slot = static_cast<char *>(all);
  memcpy(slot, mine, bytes);
  for (uint32_t rank = 1; rank < transport.getSize(); ++rank)
    transport.recv(rank, CollectiveTag, slot + rank * bytes, bytes);
}

void pprt::broadcast(Transport &transport, void *data, uint64_t bytes,
                     uint32_t root) {
  if (transport.getRank() != root) {
    transport.recv(root, CollectiveTag, data, bytes);
    return;
  }
  for (uint32_t rank = 0; rank < transport.getSize(); ++rank)
    if (rank != root)
      transport.send(rank, CollectiveTag, data, bytes);
}

std::vector<std::string> pprt::gatherText(Transport &transport,
                                          const std::string &mine) {
  uint64_t bytes = mine.size();
  if (transport.getRank() != 0) {
    transport.send(0, CollectiveTag, &bytes, sizeof bytes);
    transport.send(0, CollectiveTag, mine.data(), bytes);
    return {};
  }
  std::vector<std::string> texts = {mine};
  for (uint32_t rank = 1; rank < transport.getSize(); ++rank) {
    transport.recv(rank, CollectiveTag, &bytes, sizeof bytes);
    texts.emplace_back(bytes, '\0');
    transport.recv(rank, CollectiveTag, texts.back().data(), bytes);
  }
  return texts;
}

void pprt::broadcastText(Transport &transport, std::string &text) {
  uint64_t bytes = text.size();
  broadcast(transport, &bytes, sizeof bytes);
  text.resize(bytes);
  broadcast(transport, text.data(), bytes);
}

void pprt::barrier(Transport &transport) {
  char token = 0;
  std::vector<char> tokens(transport.getSize());
  gather(transport, &token, 1, tokens.data());
  broadcast(transport, &token, 1);
}

Status pprt::agree(Transport &transport, Status mine) {
  int32_t code = static_cast<int32_t>(mine.getCode());
  std::vector<int32_t> codes(transport.getSize());
  gather(transport, &code, sizeof code, codes.data());
  int32_t first[2] = {0, 0}; // rank, code
  for (uint32_t rank = 0; rank < codes.size() && first[1] == 0; ++rank) {
    first[0] = rank;
    first[1] = codes[rank];
  }
  broadcast(transport, first, sizeof first);
  if (first[1] == 0)
    return Status();
  if (uint32_t(first[0]) == transport.getRank())
    return mine;
  return Status::error(static_cast<ExitCode>(first[1]), "");
}
