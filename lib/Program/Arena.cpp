//===- Arena.cpp - Where everything lies in a rank's memory
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Program/Arena.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace pipewright;

int64_t pipewright::alignToArena(int64_t bytes) {
  return llvm::alignTo(bytes, arenaAlignment);
}

void Lifetime::include(int64_t position) {
  if (!isUsed())
    first = last = position;
  first = std::min(first, position);
  last = std::max(last, position);
}

llvm::SmallVector<int64_t>
pipewright::countLiveBytes(llvm::ArrayRef<ArenaBuffer> buffers,
                           int64_t positions) {
  // First what is added and taken away at each position, then the sums.
  llvm::SmallVector<int64_t> live(positions + 1, 0);
  for (const ArenaBuffer &buffer : buffers) {
    if (!buffer.lifetime.isUsed())
      continue;
    live[buffer.lifetime.first] += alignToArena(buffer.bytes);
    live[buffer.lifetime.last + 1] -= alignToArena(buffer.bytes);
  }
  for (int64_t position = 1; position < positions; ++position)
    live[position] += live[position - 1];
  live.pop_back();
  return live;
}

/// Places \p buffers in \p order, each as low as those before it allow.
static Packing placeInOrder(llvm::ArrayRef<ArenaBuffer> buffers,
                            llvm::ArrayRef<size_t> order) {
  Packing packing;
  packing.offsets.resize(buffers.size());
  // Those already placed, by ascending offset.
  std::vector<size_t> placed;
  for (size_t buffer : order) {
    int64_t bytes = alignToArena(buffers[buffer].bytes);
    int64_t offset = 0;
    for (size_t other : placed) {
      if (!buffers[buffer].lifetime.meets(buffers[other].lifetime))
        continue;
      if (offset + bytes <= packing.offsets[other])
        break;
      offset = std::max(offset, packing.offsets[other] +
                                    alignToArena(buffers[other].bytes));
    }
    packing.offsets[buffer] = offset;
    packing.bytes = std::max(packing.bytes, offset + bytes);
    auto position =
        llvm::upper_bound(placed, offset, [&](int64_t offset, size_t other) {
          return offset < packing.offsets[other];
        });
    placed.insert(position, buffer);
  }
  return packing;
}

/// The number by which buffers are ordered.
using Measure = llvm::function_ref<double(const ArenaBuffer &)>;

/// The used buffers, those of the largest measure first; equal ones by size and
/// by the begin of their lifetimes, so that equal buffers need no more places
/// than meet.
static llvm::SmallVector<size_t> sortBy(llvm::ArrayRef<ArenaBuffer> buffers,
                                        Measure measure) {
  llvm::SmallVector<size_t> order;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].lifetime.isUsed())
      order.push_back(i);
  auto getKey = [&](size_t i) {
    return std::tuple(-measure(buffers[i]), -buffers[i].bytes,
                      buffers[i].lifetime.first, i);
  };
  llvm::sort(order, [&](size_t a, size_t b) { return getKey(a) < getKey(b); });
  return order;
}

Packing pipewright::packBuffers(llvm::ArrayRef<ArenaBuffer> buffers) {
  auto getBytes = [](const ArenaBuffer &buffer) -> double {
    return buffer.bytes;
  };
  auto getDuration = [](const ArenaBuffer &buffer) -> double {
    return buffer.lifetime.last - buffer.lifetime.first + 1;
  };
  auto getArea = [=](const ArenaBuffer &buffer) {
    return getBytes(buffer) * getDuration(buffer);
  };
  int64_t positions = 0;
  for (const ArenaBuffer &buffer : buffers)
    positions = std::max(positions, buffer.lifetime.last + 1);
  llvm::SmallVector<int64_t> live = countLiveBytes(buffers, positions);
  int64_t least = live.empty() ? 0 : *llvm::max_element(live);

  Packing best = placeInOrder(buffers, sortBy(buffers, getBytes));
  for (Measure measure : {Measure(getArea), Measure(getDuration)}) {
    if (best.bytes == least)
      break;
    Packing packing = placeInOrder(buffers, sortBy(buffers, measure));
    if (packing.bytes < best.bytes)
      best = std::move(packing);
  }
  return best;
}
