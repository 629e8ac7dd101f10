//===- Memory.cpp - Allocations, and who uses their bytes when ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <cstring>

using namespace cudadouble;

Memory::~Memory() = default;

static const char *describe(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::Device:
    return "device memory";
  case MemoryKind::Pinned:
    return "pinned memory";
  case MemoryKind::Communication:
    return "memory for communication";
  }
  return "";
}

void *Memory::allocate(MemoryKind kind, int device, size_t bytes) {
  // As aligned as cudaMalloc's.
  constexpr size_t alignment = 256;
  Allocation allocation{kind,
                        device,
                        bytes,
                        std::make_unique<unsigned char[]>(bytes + alignment),
                        {}};
  memset(allocation.storage.get(), 0xFF, bytes + alignment);
  auto address = reinterpret_cast<uintptr_t>(allocation.storage.get());
  address = (address + alignment - 1) / alignment * alignment;
  allocation.segments[0] = Segment{bytes, {}, {}};
  allocations.emplace(address, std::move(allocation));
  return reinterpret_cast<void *>(address);
}

bool Memory::free(MemoryKind kind, void *data) {
  auto found = allocations.find(reinterpret_cast<uintptr_t>(data));
  if (found == allocations.end() || found->second.kind != kind)
    return false;
  graves.push_back(std::move(found->second.storage));
  allocations.erase(found);
  return true;
}

const std::pair<const uintptr_t, Memory::Allocation> *
Memory::find(const void *data, size_t bytes) const {
  auto address = reinterpret_cast<uintptr_t>(data);
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return nullptr;
  const auto &found = *std::prev(after);
  bool isInside = address + bytes <= found.first + found.second.bytes;
  return isInside ? &found : nullptr;
}

bool Memory::contains(const void *data, size_t bytes) const {
  return find(data, bytes) != nullptr;
}

/// Has a segment begin \p at that byte.
void Memory::split(Allocation &allocation, size_t at) {
  if (at == allocation.bytes)
    return;
  auto found = std::prev(allocation.segments.upper_bound(at));
  size_t before = at - found->first;
  if (before == 0)
    return;
  Segment rest = found->second;
  rest.bytes -= before;
  found->second.bytes = before;
  allocation.segments[at] = std::move(rest);
}

void Memory::check(Segment &segment, bool isWrite, const Accessor &accessor,
                   const std::string &place) {
  auto meets = [&](const Use &use, const char *did) {
    if (use.moment.count != 0 && !accessor.clock->includes(use.moment))
      report("race: " + accessor.text + (isWrite ? " writes " : " reads ") +
             place + ", which " + use.text + did +
             " without an order between them");
  };
  meets(segment.lastWrite, " writes");
  if (!isWrite) {
    if (segment.lastWrite.moment.count == 0)
      report(accessor.text + " reads " + place + ", which nothing has written");
    for (Use &use : segment.reads)
      if (use.moment.actor == accessor.moment.actor) {
        use = {accessor.moment, accessor.text};
        return;
      }
    segment.reads.push_back({accessor.moment, accessor.text});
    return;
  }
  for (const Use &use : segment.reads)
    meets(use, " reads");
  segment.lastWrite = {accessor.moment, accessor.text};
  segment.reads.clear();
}

void Memory::access(const Access &access, const Accessor &accessor) {
  if (access.bytes == 0)
    return;
  auto *found = const_cast<std::pair<const uintptr_t, Allocation> *>(
      find(access.data, access.bytes));
  if (!found) {
    report(accessor.text + (access.isWrite ? " writes " : " reads ") +
           std::to_string(access.bytes) +
           " bytes that are not all in one allocation");
    return;
  }
  auto &[begin, allocation] = *found;
  size_t first = reinterpret_cast<uintptr_t>(access.data) - begin;
  split(allocation, first);
  split(allocation, first + access.bytes);
  for (auto segment = allocation.segments.find(first);
       segment != allocation.segments.end() &&
       segment->first < first + access.bytes;
       ++segment)
    check(segment->second, access.isWrite, accessor,
          std::string(describe(allocation.kind)) + " of device " +
              std::to_string(allocation.device) + " at byte " +
              std::to_string(segment->first) + " of " +
              std::to_string(allocation.bytes));
}

void Memory::forEach(const std::function<void(void *, size_t)> &visit) const {
  for (const auto &[address, allocation] : allocations)
    visit(reinterpret_cast<void *>(address), allocation.bytes);
}

std::vector<std::string> Memory::describeLeaks() const {
  std::vector<std::string> leaks;
  for (const auto &[address, allocation] : allocations)
    leaks.push_back("device " + std::to_string(allocation.device) + " holds " +
                    std::to_string(allocation.bytes) + " bytes of " +
                    describe(allocation.kind));
  return leaks;
}
