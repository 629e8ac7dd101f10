//===- Accesses.cpp - Loads, stores and asynchronous copies
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Spaces.h"
#include "Ptx/Warp.h"

#include <algorithm>

using namespace pipewright::ptx;

Space pipewright::ptx::takeSpace(Modifiers &modifiers) {
  static constexpr Space spaces[] = {
      Space::Global, Space::Shared, Space::Shared, Space::Local,
      Space::Const,  Space::Param,  Space::Param,  Space::Param};
  int which =
      modifiers.takeOneOf({"global", "shared", "shared::cta", "local", "const",
                           "param", "param::entry", "param::func"});
  return which < 0 ? Space::Generic : spaces[which];
}

void pipewright::ptx::takeOrder(Modifiers &modifiers,
                                Instruction &instruction) {
  int order = modifiers.takeOneOf(
      {"weak", "volatile", "relaxed", "acquire", "release", "acq_rel"});
  instruction.strong = order > 0;
  modifiers.ignore({"cta", "cluster", "gpu", "sys"});
}

void pipewright::ptx::takeCacheHints(Modifiers &modifiers) {
  modifiers.ignore({"ca", "cg", "cs", "lu", "cv", "wb", "wt",
                    "L1::evict_normal", "L1::evict_unchanged",
                    "L1::evict_first", "L1::evict_last", "L1::no_allocate",
                    "L2::evict_normal", "L2::evict_first", "L2::evict_last",
                    "L2::64B", "L2::128B", "L2::256B"});
  if (modifiers.take("L2::cache_hint"))
    modifiers.shape += 's';
}

/// Registers wider than the value get its sign.
static Word loadElement(Type type, const uint8_t *from) {
  Word value = 0;
  std::memcpy(&value, from, getBytes(type));
  return isSigned(type) ? Word(signExtend(value, getBits(type))) : value;
}

static void runLoad(Warp &warp, const Instruction &instruction,
                    LaneMask active) {
  warp.checkWritten(instruction.addresses[0], active);
  unsigned bytes = getBytes(instruction.type);
  forEachLane(active, [&](unsigned lane) {
    MemoryAccess access = warp.makeAccess(instruction, lane);
    access.isRead = true;
    const uint8_t *from = warp.access(lane, access);
    for (unsigned i = 0; i < instruction.elements; ++i)
      warp.write(instruction.results[i], lane,
                 from ? loadElement(instruction.type, from + i * bytes) : 0);
  });
}

static void runStore(Warp &warp, const Instruction &instruction,
                     LaneMask active) {
  warp.checkWritten(instruction.addresses[0], active);
  for (const Operand &source : instruction.sources)
    warp.checkWritten(source, active);
  unsigned bytes = getBytes(instruction.type);
  forEachLane(active, [&](unsigned lane) {
    uint8_t values[8 * sizeof(Word)];
    for (unsigned i = 0; i < instruction.elements; ++i) {
      Word value = warp.read(instruction.sources[i], lane);
      std::memcpy(values + i * bytes, &value, bytes);
    }
    MemoryAccess access = warp.makeAccess(instruction, lane);
    access.written = values;
    if (uint8_t *to = warp.access(lane, access))
      std::memcpy(to, values, access.bytes);
  });
}

/// Reads the \p count first of \p bytes from global memory.
static bool readSource(Warp &warp, unsigned lane, Word address, Word count,
                       std::vector<uint8_t> &bytes) {
  // A part of the bytes need not have a size that an access can have.
  unsigned step = count == bytes.size() ? static_cast<unsigned>(count) : 1;
  for (Word i = 0; i < count; i += step) {
    MemoryAccess read;
    read.space = Space::Global;
    read.address = address + i;
    read.bytes = step;
    read.isRead = true;
    const uint8_t *from = warp.access(lane, read);
    if (!from)
      return false;
    std::copy_n(from, step, bytes.begin() + static_cast<ptrdiff_t>(i));
  }
  return true;
}

/// `cp.async [to], [from], bytes{, source bytes}`: what is not read is zero.
static void runCopyAsync(Warp &warp, const Instruction &instruction,
                         LaneMask active) {
  for (const Operand &address : instruction.addresses)
    warp.checkWritten(address, active);
  forEachLane(active, [&](unsigned lane) {
    std::vector<uint8_t> bytes(warp.read(instruction.sources[0], lane));
    Word count = bytes.size();
    if (instruction.sources.size() > 1)
      count = std::min(count, warp.read(instruction.sources[1], lane));
    if (!readSource(warp, lane, warp.getAddress(instruction.addresses[1], lane),
                    count, bytes))
      return;
    MemoryAccess write;
    write.space = Space::Shared;
    write.address = warp.getAddress(instruction.addresses[0], lane);
    write.bytes = static_cast<unsigned>(bytes.size());
    write.written = bytes.data();
    write.isPending = true;
    if (warp.access(lane, write))
      warp.addPending(lane, write.address, std::move(bytes));
  });
}

static void runCommit(Warp &warp, const Instruction &, LaneMask active) {
  forEachLane(active, [&](unsigned lane) { warp.commitPending(lane); });
}

static void runWaitGroup(Warp &warp, const Instruction &instruction,
                         LaneMask active) {
  forEachLane(active, [&](unsigned lane) {
    uint32_t groups = warp.getPendingGroup(lane);
    Word kept = warp.read(instruction.sources[0], lane);
    warp.settlePending(
        lane, groups - static_cast<uint32_t>(std::min<Word>(kept, groups)));
  });
}

static void runWaitAll(Warp &warp, const Instruction &, LaneMask active) {
  forEachLane(active,
              [&](unsigned lane) { warp.settlePending(lane, ~uint32_t(0)); });
}

static void runNothing(Warp &, const Instruction &, LaneMask) {}

/// The vector, the type, and that the access has at most 32 bytes.
static bool takeElements(Modifiers &modifiers, Instruction &instruction) {
  static constexpr uint8_t counts[] = {1, 2, 4, 8};
  instruction.elements = counts[modifiers.takeOneOf({"v2", "v4", "v8"}) + 1];
  instruction.type = modifiers.takeType();
  unsigned bytes = getBytes(instruction.type) * instruction.elements;
  return instruction.type != Type::None && instruction.type != Type::Pred &&
         bytes <= 32;
}

static bool decodeLoad(Modifiers &modifiers, Instruction &instruction) {
  takeOrder(modifiers, instruction);
  instruction.space = takeSpace(modifiers);
  instruction.nonCoherent = modifiers.take("nc");
  takeCacheHints(modifiers);
  instruction.run = runLoad;
  bool valid = takeElements(modifiers, instruction);
  modifiers.results = instruction.elements;
  return valid;
}

static bool decodeStore(Modifiers &modifiers, Instruction &instruction) {
  takeOrder(modifiers, instruction);
  instruction.space = takeSpace(modifiers);
  takeCacheHints(modifiers);
  instruction.run = runStore;
  bool valid = takeElements(modifiers, instruction);
  modifiers.sources =
      instruction.elements + static_cast<int>(modifiers.shape.size()) - 2;
  return valid && instruction.space != Space::Const;
}

static bool decodeAsync(Modifiers &modifiers, Instruction &instruction) {
  if (!modifiers.take("async"))
    return false;
  if (modifiers.take("commit_group")) {
    modifiers.shape = "";
    instruction.run = runCommit;
    return true;
  }
  if (modifiers.take("wait_all")) {
    modifiers.shape = "";
    instruction.run = runWaitAll;
    return true;
  }
  if (modifiers.take("wait_group")) {
    modifiers.shape = "s";
    instruction.run = runWaitGroup;
    return true;
  }
  bool isShared = modifiers.take("shared") || modifiers.take("shared::cta");
  bool isGlobal = modifiers.take("global");
  modifiers.shape = "aass?";
  modifiers.ignore({"ca", "cg", "L2::64B", "L2::128B", "L2::256B"});
  instruction.run = runCopyAsync;
  modifiers.sources = Modifiers::anyNumber;
  return isShared && isGlobal;
}

/// Hints to the caches.
static bool decodePrefetch(Modifiers &modifiers, Instruction &instruction) {
  instruction.space = takeSpace(modifiers);
  instruction.run = runNothing;
  modifiers.ignore({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  return true;
}

void pipewright::ptx::addAccesses(OpcodeTable &table) {
  table["ld"] = {decodeLoad, "ra"};
  table["ldu"] = {decodeLoad, "ra"};
  table["st"] = {decodeStore, "as"};
  table["cp"] = {decodeAsync, ""};
  table["prefetch"] = {decodePrefetch, "a"};
  table["prefetchu"] = {decodePrefetch, "a"};
}
