//===- Arena.h - Where everything lies in a rank's memory -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank has one piece of memory. What lives as long as the run has a place of
// its own; what lives for a part of a step, once per micro-batch, shares slots:
// two micro-batches use one slot if their lifetimes do not meet.
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

/// The actions, by position in a rank's step, between which a buffer of one
/// micro-batch holds a value; both included. Unused if last < first.
struct Lifetime {
  int64_t first = 0;
  int64_t last = -1;

  bool isUsed() const { return last >= first; }
};

struct SlotAssignment {
  /// How many slots are needed: the largest number of lifetimes that meet.
  int64_t slots = 0;
  /// The slot of each micro-batch; 0 for unused ones.
  llvm::SmallVector<int64_t> slotOf;
};

/// Gives each micro-batch the lowest slot that is free for its whole lifetime.
/// With lifetimes taken by their start this needs as few slots as possible.
SlotAssignment assignSlots(llvm::ArrayRef<Lifetime> lifetimes);

/// Places one thing after the other.
class ArenaLayout {
public:
  /// Reserves \p bytes, rounded up, \p count times; returns the offset.
  int64_t place(int64_t bytes, int64_t count = 1);

  int64_t getBytes() const { return bytes; }

private:
  int64_t bytes = 0;
};

} // namespace pipewright

#endif // PIPEWRIGHT_PROGRAM_ARENA_H
