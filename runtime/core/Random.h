//===- Random.h - Keys that differ ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_RANDOM_H
#define PPRT_CORE_RANDOM_H

#include <cstdint>

namespace pprt {

/// Hashes two numbers into one (the finalizer of SplitMix64, twice): a pure
/// function, so that keys do not depend on which rank makes them or when.
inline uint64_t mix(uint64_t first, uint64_t second) {
  auto scramble = [](uint64_t value) {
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
  };
  return scramble(scramble(first) ^ second);
}

} // namespace pprt

#endif // PPRT_CORE_RANDOM_H
