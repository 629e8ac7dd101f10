//===- Memory.cpp - Buffers that know which bytes are written
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Memory.h"

#include <algorithm>
#include <utility>

using namespace pipewright::ptx;

Region::Region(std::string name, Word base, size_t bytes, ByteState state)
    : name(std::move(name)), base(base), size(bytes), own(bytes),
      data(own.data()), states(bytes, state) {}

Region::Region(std::string name, uint8_t *data, size_t bytes)
    : name(std::move(name)), base(reinterpret_cast<uintptr_t>(data)),
      size(bytes), data(data) {}

bool Region::contains(Word address, size_t bytes) const {
  if (address < base || address - base > size ||
      size - (address - base) < bytes)
    return false;
  if (states.empty())
    return true;
  auto first = states.begin() + (address - base);
  return std::find(first, first + bytes, ByteState::Gap) == first + bytes;
}

bool Region::isWritten(Word address, size_t bytes) const {
  if (states.empty())
    return true;
  auto first = states.begin() + (address - base);
  return std::find(first, first + bytes, ByteState::Unwritten) == first + bytes;
}

void Region::setState(Word address, size_t bytes, ByteState state) {
  if (!states.empty())
    std::fill_n(states.begin() + (address - base), bytes, state);
}

void Region::fill(Word address, const void *from, size_t bytes) {
  if (bytes == 0)
    return;
  std::memcpy(getData(address), from, bytes);
  setState(address, bytes, ByteState::Written);
}

Memory::Memory(const Program &program)
    : constants("const", Word(0), program.constBytes) {
  for (const Variable &variable : program.variables) {
    if (variable.space != Space::Global && variable.space != Space::Const)
      continue;
    Region &region =
        variable.space == Space::Const
            ? constants
            : insert(Region(variable.name, variable.address, variable.bytes));
    // What has no initial value is zero.
    std::vector<uint8_t> bytes = variable.initial;
    bytes.resize(variable.bytes);
    region.fill(variable.address, bytes.data(), bytes.size());
  }
}

Region &Memory::insert(Region region) {
  auto place = std::upper_bound(
      regions.begin(), regions.end(), region.base,
      [](Word base, const auto &other) { return base < other->base; });
  return **regions.insert(place, std::make_unique<Region>(std::move(region)));
}

Region &Memory::allocate(const std::string &name, size_t bytes) {
  Region &region = insert(Region(name, next, bytes));
  // A gap of more than a page, so that a wrong index hits no neighbour.
  next += (bytes + 255) / 256 * 256 + 8192;
  return region;
}

Region &Memory::map(const std::string &name, void *data, size_t bytes) {
  return insert(Region(name, static_cast<uint8_t *>(data), bytes));
}

const Region *Memory::find(Word address) const {
  auto after = std::upper_bound(
      regions.begin(), regions.end(), address,
      [](Word address, const auto &region) { return address < region->base; });
  if (after == regions.begin())
    return nullptr;
  const Region *region = std::prev(after)->get();
  return address - region->base < region->size ? region : nullptr;
}

Region *Memory::find(Word address) {
  if (last && address - last->base < last->size)
    return last;
  last = const_cast<Region *>(std::as_const(*this).find(address));
  return last;
}

std::string Memory::describe(Word address) const {
  if (const Region *region = find(address))
    return std::to_string(address - region->base) + " bytes into '" +
           region->name + "' of " + std::to_string(region->size) + " bytes";
  auto after = std::upper_bound(
      regions.begin(), regions.end(), address,
      [](Word address, const auto &region) { return address < region->base; });
  if (after == regions.begin())
    return "before all buffers";
  const Region &before = **std::prev(after);
  Word distance = address - before.base - before.size;
  if (distance < 1 << 20)
    return std::to_string(distance) + " bytes past the end of '" + before.name +
           "' of " + std::to_string(before.size) + " bytes";
  if (after != regions.end() && (*after)->base - address < 1 << 20)
    return std::to_string((*after)->base - address) + " bytes before '" +
           (*after)->name + "'";
  return "far from all buffers";
}

void Memory::beginLaunch() {
  for (auto &region : regions) {
    region->shadow.clear();
    region->traffic = Traffic();
  }
  constants.traffic = Traffic();
}

void pipewright::ptx::addTraffic(Traffic &sum, const Traffic &more) {
  sum.bytesRead += more.bytesRead;
  sum.bytesWritten += more.bytesWritten;
  sum.sectorsRead += more.sectorsRead;
  sum.sectorsWritten += more.sectorsWritten;
  sum.atomics += more.atomics;
  sum.bankConflicts += more.bankConflicts;
}

std::vector<AccessedRange> Memory::getAccesses() const {
  std::vector<AccessedRange> accesses;
  for (const auto &region : regions)
    for (bool isWrite : {false, true})
      for (auto [offset, bytes] : region->shadow.getRanges(isWrite))
        accesses.push_back({region->base + offset, bytes, isWrite});
  return accesses;
}

void Memory::addTraffic(std::map<std::string, Traffic> &traffic) const {
  for (const auto &region : regions)
    ptx::addTraffic(traffic[region->name], region->traffic);
}
