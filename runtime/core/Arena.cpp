//===- Arena.cpp - The one piece of memory of a rank ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arena.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mman.h>

using namespace pprt;

static constexpr uint64_t hugePageBytes = 2 << 20;
static constexpr uint64_t pageBytes = 4096;

Status Arena::allocate(uint64_t size) {
  // One huge page more than needed, so that an aligned part has the size.
  uint64_t aligned = (size + hugePageBytes - 1) / hugePageBytes * hugePageBytes;
  uint64_t total = aligned + hugePageBytes;
  void *memory = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status::dataError("cannot allocate an arena of " +
                             std::to_string(size) +
                             " bytes: " + strerror(errno));
  mapping = memory;
  mappedBytes = total;
  bytes = size;
  uint64_t address = reinterpret_cast<uint64_t>(memory);
  base = reinterpret_cast<uint8_t *>((address + hugePageBytes - 1) /
                                     hugePageBytes * hugePageBytes);
  // Advice only: without huge pages the arena works, with more page faults.
  madvise(base, aligned, MADV_HUGEPAGE);
  for (uint64_t offset = 0; offset < size; offset += pageBytes)
    *const_cast<volatile uint8_t *>(base + offset) = 0;
  return Status();
}

Arena::~Arena() {
  if (mapping)
    munmap(mapping, mappedBytes);
}
