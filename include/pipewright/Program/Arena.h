//===- Arena.h - Where everything lies in a rank's memory -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank has one piece of memory. What lives as long as the run has a place of
// its own; what lives for a part of a step shares memory with what lives at
// other times.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PROGRAM_ARENA_H
#define PIPEWRIGHT_PROGRAM_ARENA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace pipewright {

/// All offsets are multiples of this, in bytes: a cache line, and the widest
/// vector.
inline constexpr int64_t arenaAlignment = 64;

/// \p bytes, rounded up to the arena's alignment.
int64_t alignToArena(int64_t bytes);

/// The actions, by position in whatever sequence its owner counts, between
/// which a buffer holds a value; both included. Unused if last < first.
struct Lifetime {
  int64_t first = 0;
  int64_t last = -1;

  bool isUsed() const { return last >= first; }
  bool meets(const Lifetime &other) const {
    return first <= other.last && other.first <= last;
  }
  /// Makes it last from the first to the last position that is included.
  void include(int64_t position);

  bool operator==(const Lifetime &other) const {
    return first == other.first && last == other.last;
  }
};

/// A buffer of `bytes` bytes that is needed during `lifetime`.
struct ArenaBuffer {
  int64_t bytes = 0;
  Lifetime lifetime;
};

/// The offset of each buffer, in bytes, and the size of all of them together.
struct Packing {
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// The bytes of \p buffers, each rounded up, at each of \p positions positions.
llvm::SmallVector<int64_t> countLiveBytes(llvm::ArrayRef<ArenaBuffer> buffers,
                                          int64_t positions);

/// Gives each buffer an offset such that those that live at the same time share
/// no memory. How little memory is enough is NP-hard to find; this takes the
/// buffers by size, by the product of size and lifetime and by lifetime, the
/// largest first, puts each as low as those placed before it allow, and keeps
/// the best of the three, which is often the most bytes that live at any one
/// time. The result depends on nothing but \p buffers.
///
/// By size this is "Greedy by Size for Offset Calculation" of Pisarchyk and
/// Lee, "Efficient Memory Management for Deep Neural Net Inference",
/// arXiv:2001.03288; on the problem see Gergov, "Algorithms for Compile-Time
/// Memory Optimization", SODA 1999.
/// Takes time that grows with the square of the number of buffers.
Packing packBuffers(llvm::ArrayRef<ArenaBuffer> buffers);

} // namespace pipewright

#endif // PIPEWRIGHT_PROGRAM_ARENA_H
