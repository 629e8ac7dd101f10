//===- FakeRankMain.cpp - usage: fake-rank SPEC [rank options] ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeRank.h"

#include <cstdlib>

int main(int argc, char **argv) {
  if (argc < 2)
    return 1;
  FakeSpec spec = parseFakeSpec(argv[1]);
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  uint32_t built = ((rank ? atoi(rank) : 0) + spec.rankShift) % spec.ranks;
  FakeRank fake(spec, built);
  return pprtMain(argc - 1, argv + 1, &fake.getDescriptor());
}
