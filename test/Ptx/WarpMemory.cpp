//===- WarpMemory.cpp - Checked accesses
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Block.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <tuple>

using namespace pipewright::ptx;

static std::string toHex(Word value) {
  char text[20];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

static std::string describeAccess(const MemoryAccess &access) {
  const char *verb = access.isAtomic  ? "updates "
                     : access.written ? "writes "
                                      : "reads ";
  static constexpr const char *spaces[] = {"global", "global", "shared",
                                           "local",  "const",  "param"};
  return verb + std::to_string(access.bytes) + " bytes of " +
         spaces[unsigned(access.space)] + " memory at " + toHex(access.address);
}

Word Warp::getAddress(const Operand &operand, unsigned lane) const {
  if (!operand.hasBase)
    return operand.value;
  Word mask = block.getContext().program.registerMasks[operand.index];
  return (registers[operand.index][lane] + operand.value) & mask;
}

MemoryAccess Warp::makeAccess(const Instruction &instruction,
                              unsigned lane) const {
  MemoryAccess access;
  access.space = instruction.space;
  access.address = getAddress(instruction.addresses[0], lane);
  access.bytes = getBytes(instruction.type) * instruction.elements;
  return access;
}

/// The space and region of an access; null for global addresses without one.
Region *Warp::resolve(unsigned lane, MemoryAccess &access) {
  if (access.space == Space::Generic) {
    Word window = access.address & windowMask;
    access.space = window == sharedWindow  ? Space::Shared
                   : window == localWindow ? Space::Local
                   : window == constWindow ? Space::Const
                   : window == paramWindow ? Space::Param
                                           : Space::Global;
    if (access.space != Space::Global)
      access.address &= ~windowMask;
  }
  LaunchContext &context = block.getContext();
  switch (access.space) {
  case Space::Shared:
    return &block.getShared(access.address);
  case Space::Local:
    return locals.empty() ? nullptr : &locals[lane];
  case Space::Const:
    return &context.memory.getConstants();
  case Space::Param:
    return &context.parameters;
  default:
    return context.memory.find(access.address);
  }
}

bool Warp::checkPlace(unsigned lane, const MemoryAccess &access,
                      const Region *region) {
  if (!region || !region->contains(access.address, access.bytes)) {
    std::string where = access.space == Space::Global
                            ? block.getContext().memory.describe(access.address)
                            : "outside of what the kernel has";
    fault(FaultKind::OutOfBounds, lane, describeAccess(access) + ", " + where);
    return false;
  }
  if (access.address % access.bytes != 0) {
    fault(FaultKind::Misaligned, lane,
          describeAccess(access) + " of '" + region->name +
              "', which is not a multiple of the size");
    return false;
  }
  if ((access.written || access.isAtomic) && region->isReadOnly) {
    fault(FaultKind::ReadOnly, lane,
          describeAccess(access) + " of '" + region->name +
              "', which is only to be read");
    return false;
  }
  return true;
}

Mark Warp::makeMark(unsigned lane, Mark::Kind kind) const {
  Mark mark;
  mark.kind = kind;
  mark.thread = static_cast<uint16_t>(getThread(lane));
  mark.block = block.getLinearId();
  mark.time = block.getClock().getTime();
  mark.instruction = static_cast<uint32_t>(
      current - block.getContext().program.instructions.data());
  mark.issue = block.getIssue();
  return mark;
}

void Warp::reportRace(unsigned lane, const MemoryAccess &access,
                      const Region &region, const Mark &other,
                      bool otherWrites) {
  const LaunchContext &context = block.getContext();
  const Instruction &at = context.program.instructions[other.instruction];
  std::string verb = otherWrites ? "write" : "read";
  if (other.kind == Mark::Kind::Pending)
    verb = "asynchronous copy, not waited for,";
  bool isSameBlock = other.block == block.getLinearId();
  std::string what = current->nonCoherent
                         ? "', past a cache that does not see the "
                         : "', which nothing orders with the ";
  fault(isSameBlock ? FaultKind::Race : FaultKind::BlockRace, lane,
        describeAccess(access) + " of '" + region.name + what + verb + " of " +
            describeThread(context.launch, other.block, other.thread) +
            " in line " + std::to_string(at.line) + " '" + at.text + "'");
}

void Warp::checkRace(unsigned lane, const MemoryAccess &access,
                     Region &region) {
  RaceShadow::Access record;
  record.mark = makeMark(lane, access.isPending  ? Mark::Kind::Pending
                               : current->strong ? Mark::Kind::Strong
                                                 : Mark::Kind::Plain);
  record.offset = access.address - region.base;
  record.bytes = access.bytes;
  record.isWrite = access.written != nullptr || access.isAtomic;
  record.keepsBytes =
      access.written && std::memcmp(region.getData(access.address),
                                    access.written, access.bytes) == 0;
  record.isNonCoherent = current->nonCoherent;
  record.clock = &block.getClock();
  bool otherWrites = false;
  Mark race = region.shadow.record(record, otherWrites);
  if (race.kind == Mark::Kind::None)
    return;
  bool isSameBlock = race.block == block.getLinearId();
  if (!isSameBlock && !block.getContext().launch.checkRacesOfBlocks)
    return;
  if (isNewFault(isSameBlock ? FaultKind::Race : FaultKind::BlockRace))
    reportRace(lane, access, region, race, otherWrites);
}

void Warp::countAccess(unsigned lane, const MemoryAccess &access,
                       Region &region) {
  if (access.isRead || access.isAtomic)
    region.traffic.bytesRead += access.bytes;
  if (access.written || access.isAtomic)
    region.traffic.bytesWritten += access.bytes;
  region.traffic.atomics += access.isAtomic;
  if (access.space == Space::Shared)
    sharedAccesses.push_back({&region, lane, access.address, access.bytes});
  if (access.isRead || access.isAtomic)
    sectors.push_back({&region, access.address / 32, false});
  if (access.written || access.isAtomic)
    sectors.push_back({&region, access.address / 32, true});
}

void Warp::countSectors() {
  auto less = [](const Sector &a, const Sector &b) {
    return std::tie(a.region, a.isWrite, a.number) <
           std::tie(b.region, b.isWrite, b.number);
  };
  std::sort(sectors.begin(), sectors.end(), less);
  for (size_t i = 0; i < sectors.size(); ++i) {
    if (i > 0 && !less(sectors[i - 1], sectors[i]))
      continue;
    Traffic &traffic = sectors[i].region->traffic;
    ++(sectors[i].isWrite ? traffic.sectorsWritten : traffic.sectorsRead);
  }
  sectors.clear();
}

void Warp::countBankConflicts() {
  constexpr unsigned banks = 32, wordBytes = 4;
  for (size_t first = 0; first < sharedAccesses.size();) {
    const SharedAccess &access = sharedAccesses[first];
    unsigned lanes = banks * wordBytes / std::max(access.bytes, wordBytes);
    std::array<std::set<Word>, banks> words;
    size_t next = first;
    for (; next < sharedAccesses.size() &&
           sharedAccesses[next].lane / lanes == access.lane / lanes;
         ++next) {
      Word address = sharedAccesses[next].address;
      for (Word word = address / wordBytes;
           word * wordBytes < address + access.bytes; ++word)
        words[word % banks].insert(word);
    }
    size_t passes = 1;
    for (const std::set<Word> &wanted : words)
      passes = std::max(passes, wanted.size());
    access.region->traffic.bankConflicts += passes - 1;
    first = next;
  }
  sharedAccesses.clear();
}

uint8_t *Warp::accessCallParameter(unsigned lane, const MemoryAccess &access) {
  Word offset = access.address - callParamBase;
  if (offset + access.bytes <= block.getContext().program.callBytes)
    return getCallParameter(lane, offset);
  fault(FaultKind::OutOfBounds, lane,
        describeAccess(access) + ", outside of all parameters");
  return nullptr;
}

uint8_t *Warp::access(unsigned lane, const MemoryAccess &wanted) {
  MemoryAccess access = wanted;
  Region *region = resolve(lane, access);
  // A function's parameters are in its frame too, where their address is local.
  bool isFrame = access.space == Space::Param || access.space == Space::Local;
  if (isFrame && access.address >= callParamBase)
    return accessCallParameter(lane, access);
  if (!checkPlace(lane, access, region))
    return nullptr;
  if ((access.isRead || access.isAtomic) &&
      !region->isWritten(access.address, access.bytes) &&
      isNewFault(FaultKind::Uninitialized))
    fault(FaultKind::Uninitialized, lane,
          describeAccess(access) + " of '" + region->name +
              "', of which some are not written");
  if (access.space == Space::Global || access.space == Space::Shared)
    checkRace(lane, access, *region);
  countAccess(lane, access, *region);
  if (access.written && !access.isPending)
    region->setState(access.address, access.bytes, Region::ByteState::Written);
  return region->getData(access.address);
}

void Warp::addPending(unsigned lane, Word address, std::vector<uint8_t> bytes) {
  pending[lane].push_back(
      {&block.getShared(address), address, std::move(bytes), groups[lane]});
}

void Warp::settlePending(unsigned lane, uint32_t firstKept) {
  std::vector<PendingCopy> rest;
  for (PendingCopy &copy : pending[lane]) {
    if (copy.group >= firstKept) {
      rest.push_back(std::move(copy));
      continue;
    }
    copy.region->fill(copy.address, copy.bytes.data(), copy.bytes.size());
    RaceShadow::Access settled;
    settled.mark = makeMark(lane, Mark::Kind::Plain);
    settled.offset = copy.address - copy.region->base;
    settled.bytes = static_cast<unsigned>(copy.bytes.size());
    settled.isWrite = true;
    copy.region->shadow.settle(settled);
  }
  pending[lane] = std::move(rest);
}

Traffic Warp::getLocalTraffic() const {
  Traffic sum;
  for (const Region &region : locals)
    addTraffic(sum, region.traffic);
  return sum;
}
