//===- Races.cpp - Which accesses are ordered
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Races.h"

#include <algorithm>

using namespace pipewright::ptx;

BlockClock::BlockClock(unsigned threads)
    : warpCount((threads + warpSize - 1) / warpSize),
      lanes(warpCount * warpSize * warpSize), warps(warpCount * warpCount) {}

bool BlockClock::sees(unsigned thread, const Mark &mark) const {
  if (mark.thread == thread || mark.time < everyone)
    return true;
  unsigned warp = thread / warpSize, other = mark.thread / warpSize;
  if (mark.time < warps[warp * warpCount + other])
    return true;
  return warp == other &&
         mark.time < lanes[thread * warpSize + mark.thread % warpSize];
}

void BlockClock::orderAll() { everyone = ++time; }

void BlockClock::orderWarps(const std::vector<unsigned> &waiting,
                            const std::vector<unsigned> &arriving) {
  ++time;
  std::vector<uint32_t> seen(warpCount);
  for (const std::vector<unsigned> *group : {&waiting, &arriving})
    for (unsigned warp : *group) {
      for (unsigned other = 0; other < warpCount; ++other)
        seen[other] = std::max(seen[other], warpsSeen(warp, other));
      seen[warp] = time;
    }
  for (unsigned warp : waiting)
    std::copy(seen.begin(), seen.end(), warps.begin() + warp * warpCount);
}

void BlockClock::orderLanes(unsigned warp, LaneMask mask) {
  ++time;
  uint32_t seen[warpSize] = {};
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    for (unsigned other = 0; other < warpSize; ++other)
      seen[other] =
          std::max(seen[other], lanesSeen(warp * warpSize + lane, other));
    seen[lane] = time;
  }
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (mask >> lane & 1)
      std::copy(seen, seen + warpSize, &lanesSeen(warp * warpSize + lane, 0));
}

/// Whether two accesses need an order and have none.
static bool conflicts(const Mark &earlier, const RaceShadow::Access &access) {
  if (earlier.kind == Mark::Kind::None)
    return false;
  if (earlier.kind == Mark::Kind::Pending || access.isNonCoherent)
    return true;
  if (earlier.kind == Mark::Kind::Strong &&
      access.mark.kind == Mark::Kind::Strong)
    return false;
  if (earlier.block != access.mark.block)
    return true;
  return !access.clock->sees(access.mark.thread, earlier);
}

Mark RaceShadow::check(const Cell &cell, const Access &access,
                       bool &otherWrites) {
  otherWrites = true;
  bool isSameInstruction = cell.write.block == access.mark.block &&
                           cell.write.issue == access.mark.issue;
  bool isHarmless = access.isWrite && access.keepsBytes && isSameInstruction;
  if (conflicts(cell.write, access) && !isHarmless)
    return cell.write;
  otherWrites = false;
  if (access.isWrite)
    for (const Mark &read : cell.reads)
      if (conflicts(read, access))
        return read;
  return Mark();
}

void RaceShadow::remember(Cell &cell, const Access &access) {
  if (access.isWrite) {
    cell.reads[0] = cell.reads[1] = Mark();
    cell.write = access.mark;
    return;
  }
  if (cell.write.kind == Mark::Kind::None)
    cell.isReadFirst = true;
  // Keep two readers that the next writer may not have seen. A thread's own
  // earlier read is covered by this one.
  for (Mark &read : cell.reads) {
    bool isCovered =
        read.kind == Mark::Kind::None ||
        (read.thread == access.mark.thread && read.block == access.mark.block);
    if (isCovered) {
      read = access.mark;
      return;
    }
  }
  cell.reads[1] = access.mark;
}

RaceShadow::Page &RaceShadow::getPage(size_t offset, unsigned bytes) {
  size_t index = offset / pageBytes;
  if (index >= pages.size())
    pages.resize(index + 1);
  Page &page = pages[index];
  unsigned wanted = 0;
  while ((2u << wanted) <= bytes)
    ++wanted;
  if (page.cells.empty()) {
    page.shift = wanted;
    page.cells.resize(pageBytes >> wanted);
  }
  if (wanted < page.shift) {
    std::vector<Cell> finer(pageBytes >> wanted);
    for (size_t i = 0; i < finer.size(); ++i)
      finer[i] = page.cells[i >> (page.shift - wanted)];
    page.cells = std::move(finer);
    page.shift = wanted;
  }
  return page;
}

Mark RaceShadow::record(const Access &access, bool &otherWrites) {
  Page &page = getPage(access.offset, access.bytes);
  size_t first = access.offset % pageBytes >> page.shift;
  size_t count = std::max<size_t>(access.bytes >> page.shift, 1);
  Mark race;
  for (size_t i = first; i < first + count; ++i) {
    Cell &cell = page.cells[i];
    if (race.kind == Mark::Kind::None)
      race = check(cell, access, otherWrites);
    remember(cell, access);
  }
  return race;
}

void RaceShadow::settle(const Access &access) {
  Page &page = getPage(access.offset, access.bytes);
  size_t first = access.offset % pageBytes >> page.shift;
  size_t count = std::max<size_t>(access.bytes >> page.shift, 1);
  for (size_t i = first; i < first + count; ++i)
    remember(page.cells[i], access);
}

std::vector<std::pair<size_t, size_t>>
RaceShadow::getRanges(bool isWrite) const {
  std::vector<std::pair<size_t, size_t>> ranges;
  for (size_t index = 0; index < pages.size(); ++index)
    for (size_t i = 0; i < pages[index].cells.size(); ++i) {
      const Cell &cell = pages[index].cells[i];
      if (isWrite ? cell.write.kind == Mark::Kind::None : !cell.isReadFirst)
        continue;
      size_t begin = index * pageBytes + (i << pages[index].shift);
      size_t bytes = size_t(1) << pages[index].shift;
      if (!ranges.empty() &&
          ranges.back().first + ranges.back().second == begin)
        ranges.back().second += bytes;
      else
        ranges.emplace_back(begin, bytes);
    }
  return ranges;
}
