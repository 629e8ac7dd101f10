//===- FakeRankMain.cpp - usage: fake-rank SPEC [rank options] ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeRank.h"

#include <cstdio>
#include <cstdlib>
#include <sys/syscall.h>
#include <unistd.h>

static int getRank() {
  for (const char *variable : {"OMPI_COMM_WORLD_RANK", "RANK"})
    if (const char *rank = getenv(variable))
      return atoi(rank);
  return 0;
}

/// Leaves the status for the test: mpirun tells only one of all.
static void recordStatus(int status) {
  const char *prefix = getenv("FAKE_RANK_STATUS");
  if (!prefix)
    return;
  std::string path = prefix + std::to_string(getRank());
  if (FILE *file = fopen(path.c_str(), "w")) {
    fprintf(file, "%d\n", status);
    fclose(file);
  }
}

/// Stands in for the C library's: this is how the monitor ends a rank.
extern "C" __attribute__((visibility("default"))) void _exit(int status) {
  recordStatus(status);
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 1;
  FakeSpec spec = parseFakeSpec(argv[1]);
  uint32_t built = (getRank() + spec.rankShift) % spec.ranks;
  FakeRank fake(spec, built, getRank() / spec.ranks);
  int status = pprtMain(argc - 1, argv + 1, &fake.getDescriptor());
  recordStatus(status);
  return status;
}
