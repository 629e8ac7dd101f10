//===- Arena.h - The one piece of memory of a rank --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_ARENA_H
#define PPRT_CORE_ARENA_H

#include "pprt/Status.h"

#include <cstdint>

namespace pprt {

/// Zeroed memory, aligned to 2 MiB, in huge pages where the system has them,
/// and touched: no page fault is left for a step.
class Arena {
public:
  Arena() = default;
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  Status allocate(uint64_t bytes);

  uint64_t getBytes() const { return bytes; }
  uint8_t *at(uint64_t offset) const { return base + offset; }

private:
  void *mapping = nullptr;
  uint64_t mappedBytes = 0;
  uint8_t *base = nullptr;
  uint64_t bytes = 0;
};

} // namespace pprt

#endif // PPRT_CORE_ARENA_H
