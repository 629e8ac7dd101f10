//===- PlanArena.cpp - Gives everything a rank holds its place
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Program/Arena.h"
#include "pipewright/Program/MemoryPeak.h"
#include "pipewright/Program/Passes.h"
#include "pipewright/Program/RankMemory.h"

#include "mlir/IR/Builders.h"

#include <map>

namespace pipewright {
#define GEN_PASS_DEF_PLANARENA
#include "pipewright/Program/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Who shares memory
//===----------------------------------------------------------------------===//

namespace {
/// Packs what a rank holds for a part of a step.
class BufferPacker {
public:
  /// The micro-batch that stands for all those of eval.
  static constexpr int64_t evalMicrobatch = -1;

  explicit BufferPacker(const RankMemory &memory) : memory(memory) {}

  /// Packs the messages behind all else if they are to be apart.
  void pack(bool messagesApart);
  int64_t getBytes() const { return bytes; }
  /// Where an instance lies; none if it is never used.
  std::optional<int64_t> getOffset(pp::BindingAttr binding,
                                   int64_t microbatch) const;

private:
  /// Buffers that are packed as one: they live at the same times.
  struct Group {
    int64_t bytes = 0;
    SmallVector<pp::BindingAttr> bindings;
  };

  using Filter = llvm::function_ref<bool(const BufferUse &)>;
  std::vector<Group> makeGroups(bool oneEach, Filter isWanted) const;
  /// Packs behind what is packed.
  void pack(ArrayRef<Group> groups);

  const RankMemory &memory;
  int64_t bytes = 0;
  llvm::DenseMap<std::pair<Attribute, int64_t>, int64_t> offsets;
};
} // namespace

/// More than this take the packer, which is quadratic, seconds.
static constexpr size_t mostInstances = 20000;

/// A group for each buffer, or for all that live at the same times.
std::vector<BufferPacker::Group>
BufferPacker::makeGroups(bool oneEach, Filter isWanted) const {
  std::vector<Group> groups;
  std::map<std::vector<int64_t>, size_t> known;
  for (const auto &[binding, use] : memory.getBuffers()) {
    if (!isWanted(use))
      continue;
    std::vector<int64_t> times = {use.eval.first, use.eval.last};
    for (const Lifetime &lifetime : use.microbatches)
      times.insert(times.end(), {lifetime.first, lifetime.last});
    auto [entry, isNew] = known.try_emplace(std::move(times), groups.size());
    if (isNew || oneEach)
      groups.emplace_back();
    Group &group = oneEach ? groups.back() : groups[entry->second];
    group.bytes += alignToArena(use.bytes);
    group.bindings.push_back(binding);
  }
  return groups;
}

/// The lifetimes of a group, those of eval after all of the step.
static SmallVector<std::pair<int64_t, Lifetime>>
listLifetimes(const BufferUse &use, int64_t stepEnd) {
  SmallVector<std::pair<int64_t, Lifetime>> lifetimes;
  for (auto [microbatch, lifetime] : llvm::enumerate(use.microbatches))
    if (lifetime.isUsed())
      lifetimes.push_back({microbatch, lifetime});
  if (use.eval.isUsed())
    lifetimes.push_back({BufferPacker::evalMicrobatch,
                         {stepEnd + use.eval.first, stepEnd + use.eval.last}});
  return lifetimes;
}

void BufferPacker::pack(ArrayRef<Group> groups) {
  int64_t stepEnd = memory.getPositions().size();
  SmallVector<ArenaBuffer> instances;
  SmallVector<std::pair<const Group *, int64_t>> owners;
  for (const Group &group : groups) {
    const BufferUse &use = memory.getBuffers().find(group.bindings[0])->second;
    for (auto [microbatch, lifetime] : listLifetimes(use, stepEnd)) {
      instances.push_back({group.bytes, lifetime});
      owners.push_back({&group, microbatch});
    }
  }
  Packing packing = packBuffers(instances);
  int64_t base = std::exchange(bytes, bytes + packing.bytes);
  for (auto [owner, place] : llvm::zip_equal(owners, packing.offsets)) {
    int64_t offset = base + place;
    for (pp::BindingAttr binding : owner.first->bindings) {
      offsets[{binding, owner.second}] = offset;
      offset += alignToArena(memory.getBuffers().find(binding)->second.bytes);
    }
  }
}

void BufferPacker::pack(bool messagesApart) {
  size_t instances = 0;
  for (const auto &[binding, use] : memory.getBuffers())
    instances += use.microbatches.size() + 1;
  bool oneEach = instances <= mostInstances;
  if (!messagesApart)
    return pack(makeGroups(oneEach, [](const BufferUse &) { return true; }));
  for (bool message : {false, true})
    pack(makeGroups(oneEach, [=](const BufferUse &use) {
      return use.isMessage == message;
    }));
}

std::optional<int64_t> BufferPacker::getOffset(pp::BindingAttr binding,
                                               int64_t microbatch) const {
  auto found = offsets.find({binding, microbatch});
  if (found == offsets.end())
    return std::nullopt;
  return found->second;
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

/// Places \p binding at the offsets that the packer found, from \p base on.
static void placeBuffer(pp::BindingAttr binding, const BufferUse &use,
                        const BufferPacker &packer, int64_t base,
                        OpBuilder &builder, Location loc) {
  SmallVector<int64_t> offsets;
  auto getSlot = [&](int64_t microbatch) -> int64_t {
    std::optional<int64_t> offset = packer.getOffset(binding, microbatch);
    if (!offset)
      return 0; // Never asked for.
    auto *known = llvm::find(offsets, base + *offset);
    if (known == offsets.end()) {
      offsets.push_back(base + *offset);
      return offsets.size() - 1;
    }
    return known - offsets.begin();
  };
  SmallVector<int64_t> slots;
  for (int64_t microbatch : llvm::seq<int64_t>(0, use.microbatches.size()))
    slots.push_back(getSlot(microbatch));
  int64_t evalSlot = getSlot(BufferPacker::evalMicrobatch);
  pp::PlaceOp::create(builder, loc, binding, offsets, alignToArena(use.bytes),
                      builder.getDenseI64ArrayAttr(slots), evalSlot);
}

/// Builds the arena of a rank at \p builder.
static void buildArena(const RankMemory &memory, int64_t rank,
                       int64_t microbatches, bool messagesApart,
                       OpBuilder &builder, Location loc) {
  BufferPacker packer(memory);
  packer.pack(messagesApart);
  int64_t base = memory.getLastingBytes();
  auto arena =
      pp::ArenaOp::create(builder, loc, rank, base + packer.getBytes());
  OpBuilder inside = OpBuilder::atBlockEnd(&arena.getBody().emplaceBlock());
  int64_t offset = 0;
  for (auto [binding, bytes] : memory.getLasting()) {
    // The runtime finds what tasks are bound to, except for parameters and
    // gradients, by micro-batch.
    DenseI64ArrayAttr slots;
    if (binding.getKind() == pp::BindingKind::LossScale)
      slots =
          builder.getDenseI64ArrayAttr(SmallVector<int64_t>(microbatches, 0));
    pp::PlaceOp::create(inside, loc, binding, offset, alignToArena(bytes),
                        slots, /*eval_slot=*/0);
    offset += alignToArena(bytes);
  }
  for (const auto &[binding, use] : memory.getBuffers())
    placeBuffer(binding, use, packer, base, inside, loc);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Of a rank that needs too much, as many parts are named.
static constexpr size_t mostPartsNamed = 3;

/// Fails if an arena is larger than \p limit; tells of the largest one when it
/// holds most, and which tensors take most then.
static LogicalResult checkLimit(ModuleOp module, int64_t limit) {
  if (llvm::all_of(module.getOps<pp::ArenaOp>(), [=](pp::ArenaOp arena) {
        return static_cast<int64_t>(arena.getBytes()) <= limit;
      }))
    return success();
  FailureOr<std::vector<MemoryPeak>> peaks = findMemoryPeaks(module);
  if (failed(peaks))
    return failure();
  const MemoryPeak *worst = nullptr;
  for (const MemoryPeak &peak : *peaks)
    if (!worst || peak.arenaBytes > worst->arenaBytes)
      worst = &peak;
  int64_t lasting = 0;
  SmallVector<MemoryPart> others;
  for (const MemoryPart &part : worst->parts) {
    if (part.lasts)
      lasting += part.bytes;
    else
      others.push_back(part);
  }
  InFlightDiagnostic diag =
      emitError(module.getLoc())
      << "rank " << worst->rank << " needs " << worst->arenaBytes
      << " bytes of memory, but may take " << limit << ": " << lasting
      << " bytes for parameters, gradients and optimizer "
         "state, and "
      << worst->arenaBytes - lasting << " for what it holds during "
      << worst->actions[worst->peakAction];
  StringRef separator = ": ";
  for (const MemoryPart &part : ArrayRef(others).take_front(mostPartsNamed)) {
    diag << separator << part.bytes << " for " << part.what;
    if (!part.microbatches.empty())
      diag << " of " << formatMicrobatches(part);
    separator = ", ";
  }
  return diag;
}

namespace {

struct PlanArena : pipewright::impl::PlanArenaBase<PlanArena> {
  using PlanArenaBase::PlanArenaBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto schedules = module.getOps<pp::ScheduleOp>();
    if (schedules.empty()) {
      module.emitError("has no schedule to plan memory for; run "
                       "'--pp-attach-schedule' first");
      return signalPassFailure();
    }
    pp::ScheduleOp schedule = *schedules.begin();
    for (auto arena : llvm::make_early_inc_range(module.getOps<pp::ArenaOp>()))
      arena.erase();

    SymbolTable symbols(module);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    int64_t microbatches = schedule.getMicrobatches();
    for (int64_t rank : llvm::seq<int64_t>(0, schedule.getRanks())) {
      FailureOr<RankMemory> rankMemory =
          RankMemory::get(module, symbols, rank, microbatches);
      if (failed(rankMemory))
        return signalPassFailure();
      buildArena(*rankMemory, rank, microbatches, messagesApart, builder,
                 module.getLoc());
    }
    if (memory != 0 && failed(checkLimit(module, memory)))
      return signalPassFailure();
    pp::setPhase(module, pp::Phase::Program);
  }
};

} // namespace
