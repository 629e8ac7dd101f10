//===- Control.cpp - Branches, calls, ends and barriers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Control.h"
#include "Ptx/Block.h"
#include "Ptx/Opcodes.h"

using namespace pipewright::ptx;

void pipewright::ptx::runBranch(Warp &warp, const Instruction &instruction,
                                LaneMask active) {
  if (active != warp.getGroup())
    ++warp.getBlock().getContext().counters.divergentBranches;
  forEachLane(active,
              [&](unsigned lane) { warp.jump(lane, instruction.target); });
}

void pipewright::ptx::runIndexedBranch(Warp &warp,
                                       const Instruction &instruction,
                                       LaneMask active) {
  warp.checkWritten(instruction.sources[0], active);
  const Program &program = warp.getBlock().getContext().program;
  const std::vector<uint32_t> &targets =
      program.branchTables[instruction.target];
  forEachLane(active, [&](unsigned lane) {
    Word index = warp.read(instruction.sources[0], lane);
    if (index < targets.size()) {
      warp.jump(lane, targets[index]);
      return;
    }
    warp.fault(FaultKind::Undefined, lane,
               "branches to target " + std::to_string(index) + " of " +
                   std::to_string(targets.size()));
    warp.exit(lane);
  });
}

void pipewright::ptx::runCall(Warp &warp, const Instruction &instruction,
                              LaneMask active) {
  const Call &call =
      warp.getBlock().getContext().program.calls[instruction.target];
  forEachLane(active, [&](unsigned lane) { warp.call(lane, call); });
}

void pipewright::ptx::runReturn(Warp &warp, const Instruction &,
                                LaneMask active) {
  forEachLane(active, [&](unsigned lane) { warp.leave(lane); });
}

static void runExit(Warp &warp, const Instruction &, LaneMask active) {
  forEachLane(active, [&](unsigned lane) { warp.exit(lane); });
}

static void runTrap(Warp &warp, const Instruction &, LaneMask active) {
  warp.fault(FaultKind::Trap, getFirstLane(active), "stops the kernel");
}

static void runNothing(Warp &, const Instruction &, LaneMask) {}

/// `bar{.cta}.sync number{, threads}`; reductions have a predicate last.
static void runBarrier(Warp &warp, const Instruction &instruction,
                       LaneMask active) {
  Block &block = warp.getBlock();
  for (const Operand &source : instruction.sources)
    warp.checkWritten(source, active);
  unsigned first = getFirstLane(active);
  auto action = static_cast<BarrierAction>(instruction.variant);
  bool waits = action != BarrierAction::Arrive;
  bool reduces = waits && action != BarrierAction::Sync;
  size_t numbers = instruction.sources.size() - reduces;
  Word number = warp.read(instruction.sources[0], first);
  Word expected = numbers > 1 ? warp.read(instruction.sources[1], first)
                              : block.getThreads();
  bool isWhole = expected == block.getThreads();
  if (number >= 16 || expected == 0 || (!isWhole && expected % warpSize)) {
    warp.fault(FaultKind::Undefined, first,
               "barrier " + std::to_string(number) + " of " +
                   std::to_string(expected) +
                   " threads; there are 16 barriers, of whole warps");
    return;
  }
  unsigned holding = 0;
  if (reduces)
    forEachLane(active, [&](unsigned lane) {
      holding += warp.read(instruction.sources.back(), lane) != 0;
    });
  block.arrive(static_cast<unsigned>(number), static_cast<unsigned>(expected),
               {&warp, active, &instruction, waits}, holding);
}

static void runWarpSync(Warp &warp, const Instruction &instruction,
                        LaneMask active) {
  warp.checkWritten(instruction.sources[0], active);
  forEachMask(warp, instruction.sources[0], active,
              [&](LaneMask here, LaneMask mask) {
                LaneMask lanes =
                    warp.gather(instruction, here, mask, /*anyPlace=*/true);
                if (lanes)
                  warp.getBlock().getClock().orderLanes(warp.getIndex(), lanes);
              });
}

/// `barrier` is `bar` for lanes that need not come together.
static bool decodeBarrier(Modifiers &modifiers, Instruction &instruction) {
  instruction.isAligned =
      modifiers.getName() == "bar" || modifiers.take("aligned");
  instruction.run = runBarrier;
  if (modifiers.take("warp")) {
    instruction.run = runWarpSync;
    modifiers.shape = "s";
    return modifiers.take("sync");
  }
  modifiers.take("cta");
  modifiers.sources = Modifiers::anyNumber;
  int kind = modifiers.takeOneOf({"sync", "arrive", "red"});
  auto action = kind == 1 ? BarrierAction::Arrive : BarrierAction::Sync;
  modifiers.shape = kind == 1 ? "ss" : "ss?";
  if (kind == 2) {
    int reduction = modifiers.takeOneOf({"popc", "and", "or"}) + 1;
    action = static_cast<BarrierAction>(reduction);
    bool isCount = action == BarrierAction::Popcount;
    modifiers.shape = "rsss?";
    if (reduction == 0 ||
        modifiers.takeType() != (isCount ? Type::U32 : Type::Pred))
      return false;
  }
  instruction.variant = static_cast<uint8_t>(action);
  return kind >= 0;
}

/// Memory fences: the machine runs in an order that has all of them.
static bool decodeFence(Modifiers &modifiers, Instruction &instruction) {
  instruction.run = runNothing;
  modifiers.ignore({"sc", "acq_rel", "acquire", "release", "cta", "gl", "gpu",
                    "sys", "cluster"});
  return true;
}

/// How long a thread sleeps changes nothing here.
static bool decodeSleep(Modifiers &modifiers, Instruction &instruction) {
  instruction.run = runNothing;
  return modifiers.takeType() == Type::U32;
}

/// The order of launches that depend on each other: one runs after the other.
static bool decodeDependency(Modifiers &modifiers, Instruction &instruction) {
  instruction.run = runNothing;
  return modifiers.takeOneOf({"launch_dependents", "wait"}) >= 0;
}

static bool decodeReturn(Modifiers &modifiers, Instruction &instruction) {
  modifiers.take("uni");
  instruction.run = runReturn;
  return true;
}

template <WarpFunction function>
static bool decodePlain(Modifiers &, Instruction &instruction) {
  instruction.run = function;
  return true;
}

void pipewright::ptx::addControl(OpcodeTable &table) {
  table["ret"] = {decodeReturn, ""};
  table["exit"] = {decodePlain<runExit>, ""};
  table["trap"] = {decodePlain<runTrap>, ""};
  table["brkpt"] = {decodePlain<runNothing>, ""};
  table["bar"] = {decodeBarrier, ""};
  table["barrier"] = {decodeBarrier, ""};
  table["membar"] = {decodeFence, ""};
  table["fence"] = {decodeFence, ""};
  table["nanosleep"] = {decodeSleep, "s"};
  table["griddepcontrol"] = {decodeDependency, ""};
}
