//===- Permutation.cpp - A random order without a table -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Permutation.h"
#include "core/Random.h"

using namespace pprt;

/// A Feistel network: a bijection of the numbers of 2 * \p halfBits bits.
static uint64_t scramble(uint64_t value, int halfBits, uint64_t key) {
  uint64_t mask = (uint64_t(1) << halfBits) - 1;
  uint64_t left = value >> halfBits, right = value & mask;
  for (uint64_t round = 0; round < 4; ++round) {
    uint64_t next = left ^ (mix(key + round, right) & mask);
    left = right;
    right = next;
  }
  return left << halfBits | right;
}

int64_t pprt::permute(int64_t index, int64_t size, uint64_t key) {
  int halfBits = 1;
  while (halfBits < 31 && (int64_t(1) << (2 * halfBits)) < size)
    ++halfBits;
  // The bijection is of a power of four, at most four times the size. A cycle
  // that leaves the range comes back into it: follow it until it does.
  uint64_t value = index;
  do
    value = scramble(value, halfBits, key);
  while (value >= uint64_t(size));
  return value;
}
