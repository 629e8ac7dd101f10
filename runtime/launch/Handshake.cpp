//===- Handshake.cpp - Do the ranks belong together? ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handshake.h"
#include "Collectives.h"

#include <cstring>

using namespace pprt;

namespace {
/// The first message: no field may move, so that builds of any two versions
/// can tell that they differ.
struct Greeting {
  uint32_t abiVersion;
  uint32_t rank;  ///< of its pipeline
  uint32_t ranks; ///< of all pipelines
  uint8_t planHash[32];
};
} // namespace

static std::string formatHash(const uint8_t *hash) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < 6; ++i) {
    text += digits[hash[i] >> 4];
    text += digits[hash[i] & 15];
  }
  return text;
}

/// What is wrong with the rank at \p position, compared to rank 0; or "".
/// \p pipelineRanks: those of a pipeline.
static std::string compare(const Greeting &first, const Greeting &other,
                           uint32_t position, uint32_t size,
                           uint32_t pipelineRanks) {
  std::string who = "rank " + std::to_string(position);
  if (other.abiVersion != first.abiVersion)
    return who + " has version " + std::to_string(other.abiVersion) +
           " of the runtime's interface, rank 0 has version " +
           std::to_string(first.abiVersion) + "; build all ranks together";
  if (other.ranks != size)
    return "built for " + std::to_string(other.ranks) +
           " ranks, but started with " + std::to_string(size) +
           "; start as many processes as there are ranks";
  if (memcmp(other.planHash, first.planHash, sizeof first.planHash) != 0)
    return who + " was built from another plan than rank 0 (" +
           formatHash(other.planHash) + " and " + formatHash(first.planHash) +
           "); build all ranks together";
  if (other.rank != position % pipelineRanks)
    return "process " + std::to_string(position) +
           " runs the executable of rank " + std::to_string(other.rank) +
           "; start the ranks with the 'launch' script of the build";
  return "";
}

Status pprt::shakeHands(Transport &transport,
                        const PprtDescriptor &descriptor) {
  Greeting mine = {descriptor.abiVersion,
                   descriptor.rank,
                   descriptor.ranks * descriptor.dataParallel,
                   {}};
  memcpy(mine.planHash, descriptor.planHash, sizeof mine.planHash);
  std::vector<Greeting> all(transport.getSize());
  gather(transport, &mine, sizeof mine, all.data());
  std::string problem;
  if (transport.getRank() == 0)
    for (uint32_t rank = 0; rank < all.size() && problem.empty(); ++rank)
      problem = compare(all[0], all[rank], rank, transport.getSize(),
                        descriptor.ranks);
  broadcastText(transport, problem);
  if (problem.empty())
    return Status();
  // Rank 0 tells it for all.
  return Status::error(ExitCode::Mismatch,
                       transport.getRank() == 0 ? problem : "");
}
