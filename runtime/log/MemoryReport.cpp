//===- MemoryReport.cpp - What the arena of each rank holds ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryReport.h"
#include "launch/Collectives.h"

#include <algorithm>
#include <cstdio>

using namespace pprt;

MemoryUse pprt::measureMemory(const PprtDescriptor &descriptor) {
  MemoryUse use = {};
  use.arena = descriptor.arenaBytes;
  int states = descriptor.optimizer == PPRT_ADAMW ? 2 : 1;
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    uint64_t bytes = parameter.tensor.bytes;
    use.parameters += bytes;
    if (!parameter.trainable || descriptor.forwardOnly)
      continue;
    use.optimizer += states * bytes;
    // The owner has room for all contributions, others for their own.
    for (uint32_t j = 0; j < parameter.contributionCount; ++j)
      if (parameter.owner == descriptor.rank ||
          parameter.contributions[j].rank == descriptor.rank)
        use.gradients += bytes;
  }
  for (uint32_t i = 0; i < descriptor.bufferCount; ++i)
    if (descriptor.buffers[i].kind == PPRT_BUFFER_WORKSPACE)
      use.workspace = std::max(use.workspace, descriptor.buffers[i].bytes);
  use.buffers = use.arena - use.parameters - use.gradients - use.optimizer;
  return use;
}

std::vector<MemoryUse> pprt::exchangeMemory(Transport &transport,
                                            const MemoryUse &mine) {
  std::vector<MemoryUse> all(transport.getSize());
  gather(transport, &mine, sizeof mine, all.data());
  broadcast(transport, all.data(), all.size() * sizeof mine);
  return all;
}

std::string pprt::formatMemoryTable(const std::vector<MemoryUse> &ranks) {
  std::string table = "memory, MiB  parameters  gradients  optimizer    "
                      "buffers  workspace      arena\n";
  char line[160];
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const MemoryUse &use = ranks[rank];
    auto mebibytes = [](uint64_t bytes) { return bytes / double(1 << 20); };
    snprintf(line, sizeof line,
             "rank %-7zu %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f\n", rank,
             mebibytes(use.parameters), mebibytes(use.gradients),
             mebibytes(use.optimizer), mebibytes(use.buffers),
             mebibytes(use.workspace), mebibytes(use.arena));
    table += line;
  }
  return table;
}

std::string pprt::formatMemoryJson(const std::vector<MemoryUse> &ranks) {
  std::string text = "{\"ranks\":[";
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const MemoryUse &use = ranks[rank];
    text += std::string(rank ? "," : "") +
            "\n{\"rank\":" + std::to_string(rank) +
            ",\"arena_bytes\":" + std::to_string(use.arena) +
            ",\"parameter_bytes\":" + std::to_string(use.parameters) +
            ",\"gradient_bytes\":" + std::to_string(use.gradients) +
            ",\"optimizer_bytes\":" + std::to_string(use.optimizer) +
            ",\"buffer_bytes\":" + std::to_string(use.buffers) +
            ",\"workspace_bytes\":" + std::to_string(use.workspace) + "}";
  }
  return text + "\n]}\n";
}
