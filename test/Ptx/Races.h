//===- Races.h - Which accesses are ordered ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two accesses of one byte race if different threads make them, one writes,
// not both are strong, and no barrier orders them. A shadow keeps for each
// byte who wrote it last and two of its readers since; a clock keeps what each
// thread of a block has seen of the others. So a race is found whichever of
// the two comes first.
//
// With more than two readers that partial barriers order differently, a race
// of a write with one of the others can be missed.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_RACES_H
#define PIPEWRIGHT_TEST_PTX_RACES_H

#include "Ptx/Types.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace pipewright::ptx {

/// An access, as the shadow remembers it.
struct Mark {
  enum class Kind : uint8_t {
    None,
    Plain,
    Strong,
    /// A cp.async that its thread has not waited for: nobody has seen it.
    Pending
  };

  Kind kind = Kind::None;
  uint16_t thread = 0;
  uint32_t block = 0;
  /// The block's time.
  uint32_t time = 0;
  uint32_t instruction = 0;
  /// Differs between any two instructions that a block executes.
  uint32_t issue = 0;
};

/// What the threads of a block have seen of each other's accesses. Its time
/// goes on with each event that orders accesses.
class BlockClock {
public:
  explicit BlockClock(unsigned threads);

  uint32_t getTime() const { return time; }
  /// Whether \p mark, of this block, comes before all that \p thread does now.
  bool sees(unsigned thread, const Mark &mark) const;

  /// All threads of the block pass a barrier.
  void orderAll();
  /// The threads of \p waiting pass a barrier and see what they and those of
  /// \p arriving did. Both are numbers of warps.
  void orderWarps(const std::vector<unsigned> &waiting,
                  const std::vector<unsigned> &arriving);
  /// Lanes of one warp pass bar.warp.sync.
  void orderLanes(unsigned warp, LaneMask lanes);

private:
  uint32_t &lanesSeen(unsigned thread, unsigned lane) {
    return lanes[thread * warpSize + lane];
  }
  uint32_t &warpsSeen(unsigned warp, unsigned other) {
    return warps[warp * warpCount + other];
  }

  unsigned warpCount;
  uint32_t time = 1;
  /// Accesses before these times are seen: by everyone, by a thread of the
  /// lanes of its warp, by a warp of another warp.
  uint32_t everyone = 0;
  std::vector<uint32_t> lanes;
  std::vector<uint32_t> warps;
};

/// Who accessed the bytes of a buffer during a launch.
class RaceShadow {
public:
  /// An access that is about to happen.
  struct Access {
    Mark mark;
    size_t offset = 0;
    unsigned bytes = 0;
    bool isWrite = false;
    /// A write of the bytes that are there already.
    bool keepsBytes = false;
    /// A read through a cache that sees no write of the launch.
    bool isNonCoherent = false;
    const BlockClock *clock = nullptr;
  };

  /// Remembers the access. Returns the mark of an access that it races with,
  /// whose kind is None if there is none; \p otherWrites says what that was.
  Mark record(const Access &access, bool &otherWrites);
  /// Remembers a write that has been checked before, as a Pending one.
  void settle(const Access &access);
  void clear() { pages.clear(); }
  /// What was read before the launch wrote it, if \p isWrite is false, or was
  /// written: pairs of an offset and a number of bytes, in order, not adjacent.
  std::vector<std::pair<size_t, size_t>> getRanges(bool isWrite) const;

private:
  struct Cell {
    Mark write;
    Mark reads[2];
    /// Also before \p write.
    bool isReadFirst = false;
  };
  /// Cells of 2^shift bytes, as small as the smallest access so far.
  struct Page {
    unsigned shift = 0;
    std::vector<Cell> cells;
  };
  static constexpr size_t pageBytes = 4096;

  Page &getPage(size_t offset, unsigned bytes);
  static Mark check(const Cell &cell, const Access &access, bool &otherWrites);
  static void remember(Cell &cell, const Access &access);

  std::vector<Page> pages;
};

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_RACES_H
