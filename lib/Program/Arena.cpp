//===- Arena.cpp - Where everything lies in a rank's memory
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Program/Arena.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace pipewright;

int64_t pipewright::alignToArena(int64_t bytes) {
  return llvm::alignTo(bytes, arenaAlignment);
}

SlotAssignment pipewright::assignSlots(llvm::ArrayRef<Lifetime> lifetimes) {
  SlotAssignment result;
  result.slotOf.assign(lifetimes.size(), 0);

  llvm::SmallVector<size_t> order;
  for (size_t i = 0; i < lifetimes.size(); ++i)
    if (lifetimes[i].isUsed())
      order.push_back(i);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(lifetimes[a].first, a) < std::pair(lifetimes[b].first, b);
  });

  llvm::SmallVector<int64_t> lastUse; // Of each slot.
  for (size_t i : order) {
    auto *slot = llvm::find_if(
        lastUse, [&](int64_t last) { return last < lifetimes[i].first; });
    result.slotOf[i] = slot - lastUse.begin();
    if (slot == lastUse.end())
      lastUse.push_back(lifetimes[i].last);
    else
      *slot = lifetimes[i].last;
  }
  result.slots = lastUse.size();
  return result;
}

int64_t ArenaLayout::place(int64_t size, int64_t count) {
  int64_t offset = bytes;
  bytes += alignToArena(size) * count;
  return offset;
}
