//===- Warp.cpp - 32 threads in lockstep
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Block.h"
#include "Ptx/Opcodes.h"

#include <algorithm>

using namespace pipewright::ptx;

Warp::Warp(Block &block, unsigned index) : block(block), index(index) {
  const LaunchContext &context = block.getContext();
  const Program &program = context.program;
  unsigned lanes = std::min(block.getThreads() - index * warpSize, warpSize);
  exists = static_cast<LaneMask>(maskOfBits(lanes));
  counters.fill(context.kernel.entry);
  states.fill(LaneState::Exited);
  forEachLane(exists,
              [&](unsigned lane) { states[lane] = LaneState::Running; });
  std::vector<Registers> &spare = getSpareRegisters();
  if (!spare.empty()) {
    registers = std::move(spare.back());
    spare.pop_back();
  }
  registers.resize(program.registerMasks.size());
  written.resize(program.registerMasks.size());
  callParameters.resize(size_t(program.callBytes) * warpSize);
  if (program.localBytes > 0)
    for (unsigned lane = 0; lane < lanes; ++lane)
      locals.emplace_back("local", Word(0), program.localBytes);
}

Warp::~Warp() { getSpareRegisters().push_back(std::move(registers)); }

std::vector<Warp::Registers> &Warp::getSpareRegisters() {
  static thread_local std::vector<Registers> spare;
  return spare;
}

LaneMask Warp::getLanes(LaneState state) const {
  LaneMask lanes = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    lanes |= LaneMask(states[lane] == state) << lane;
  return lanes & exists;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The lanes that step next.
bool Warp::selectGroup(bool lowestFirst) {
  size_t depth = 0;
  uint32_t counter = 0;
  group = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (states[lane] != LaneState::Running)
      continue;
    size_t laneDepth = frames[lane].size();
    bool isFirst =
        lowestFirst ? counters[lane] < counter : counters[lane] > counter;
    bool isNext =
        group == 0 || laneDepth > depth || (laneDepth == depth && isFirst);
    if (isNext) {
      depth = laneDepth;
      counter = counters[lane];
      group = 0;
    }
    if (laneDepth == depth && counters[lane] == counter)
      group |= LaneMask(1) << lane;
  }
  return group != 0;
}

LaneMask Warp::applyGuard(const Instruction &instruction) {
  if (!instruction.guard)
    return group;
  Operand guard;
  guard.kind = Operand::Kind::Register;
  guard.index = *instruction.guard;
  checkWritten(guard, group);
  LaneMask active = 0;
  forEachLane(group, [&](unsigned lane) {
    bool holds = registers[guard.index][lane] != 0;
    active |= LaneMask(holds != instruction.guardNegated) << lane;
  });
  return active;
}

void Warp::step() {
  uint32_t counter = counters[getFirstLane(group)];
  current = &block.getContext().program.instructions[counter];
  forEachLane(group, [&](unsigned lane) { counters[lane] = counter + 1; });
  block.nextIssue();
  LaneMask active = applyGuard(*current);
  Counters &total = block.getContext().counters;
  ++total.warpInstructions;
  total.threadInstructions += countLanes(active);
  if (active)
    current->run(*this, *current, active);
  if (!sectors.empty())
    countSectors();
  if (!sharedAccesses.empty())
    countBankConflicts();
}

void Warp::run(unsigned steps) {
  LaunchContext &context = block.getContext();
  for (unsigned i = 0; i < steps; ++i) {
    // Enough steps to leave a lock that others of the warp wait for.
    bool lowestFirst = i < steps - steps / 8;
    if (!selectGroup(lowestFirst))
      return;
    step();
    if (context.faults.isStopped())
      return;
    if (uint64_t(context.counters.warpInstructions) >=
        context.launch.maxInstructions) {
      fault(FaultKind::StepLimit, getFirstLane(group),
            "the launch has taken " +
                std::to_string(context.launch.maxInstructions) +
                " instructions and has not ended");
      return;
    }
  }
}

void pipewright::ptx::runLanes(Warp &warp, const Instruction &instruction,
                               LaneMask active) {
  for (const Operand &source : instruction.sources)
    warp.checkWritten(source, active);
  runCopy(warp, instruction, active);
}

void pipewright::ptx::runCopy(Warp &warp, const Instruction &instruction,
                              LaneMask active) {
  LaneMask unwritten = active;
  for (const Operand &source : instruction.sources)
    unwritten &= ~warp.getWritten(source);
  forEachLane(active, [&](unsigned lane) {
    Word sources[6] = {}, results[4] = {};
    unsigned count = 0;
    for (const Operand &source : instruction.sources)
      sources[count++] = warp.read(source, lane);
    instruction.compute(instruction, sources, results);
    count = 0;
    for (const Operand &result : instruction.results)
      warp.write(result, lane, results[count++]);
  });
  if (unwritten)
    for (const Operand &result : instruction.results)
      warp.forget(result, unwritten);
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

Word Warp::read(const Operand &operand, unsigned lane) const {
  switch (operand.kind) {
  case Operand::Kind::Register: {
    Word value = registers[operand.index][lane];
    return operand.negated ? value ^ 1 : value;
  }
  case Operand::Kind::Special:
    return readSpecial(operand.special, lane);
  default:
    return operand.value;
  }
}

void Warp::write(const Operand &operand, unsigned lane, Word value) {
  if (operand.kind != Operand::Kind::Register)
    return;
  Word mask = block.getContext().program.registerMasks[operand.index];
  registers[operand.index][lane] = value & mask;
  written[operand.index] |= LaneMask(1) << lane;
}

LaneMask Warp::getWritten(const Operand &operand) const {
  bool isRegister = operand.kind == Operand::Kind::Register ||
                    (operand.kind == Operand::Kind::Address && operand.hasBase);
  return isRegister ? written[operand.index] : allLanes;
}

void Warp::checkWritten(const Operand &operand, LaneMask lanes) {
  LaneMask missing = lanes & ~getWritten(operand);
  if (missing)
    fault(FaultKind::Uninitialized, getFirstLane(missing),
          "reads register " +
              block.getContext().program.registerNames[operand.index] +
              ", which the thread has not written");
}

void Warp::forget(const Operand &operand, LaneMask lanes) {
  if (operand.kind == Operand::Kind::Register)
    written[operand.index] &= ~lanes;
}

void Warp::forgetRange(uint32_t first, uint32_t end, unsigned lane) {
  for (uint32_t i = first; i < end; ++i)
    written[i] &= ~(LaneMask(1) << lane);
}

static Word getPart(Dim dim, unsigned axis) {
  return axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z;
}

Word Warp::readSpecial(SpecialRegister special, unsigned lane) const {
  const LaunchContext &context = block.getContext();
  const Launch &launch = context.launch;
  Word below = maskOfBits(lane), own = Word(1) << lane;
  auto axisFrom = [&](SpecialRegister first) {
    return unsigned(special) - unsigned(first);
  };
  if (special <= SpecialRegister::TidZ)
    return getPart(block.getThreadId(getThread(lane)),
                   axisFrom(SpecialRegister::TidX));
  if (special <= SpecialRegister::NtidZ)
    return getPart(launch.block, axisFrom(SpecialRegister::NtidX));
  if (special <= SpecialRegister::CtaidZ)
    return getPart(block.getId(), axisFrom(SpecialRegister::CtaidX));
  if (special <= SpecialRegister::NctaidZ)
    return getPart(launch.grid, axisFrom(SpecialRegister::NctaidX));
  switch (special) {
  case SpecialRegister::LaneId:
    return lane;
  case SpecialRegister::WarpId:
    return index;
  case SpecialRegister::NwarpId:
    return block.getWarps();
  case SpecialRegister::LanemaskEq:
    return own;
  case SpecialRegister::LanemaskLe:
    return below | own;
  case SpecialRegister::LanemaskLt:
    return below;
  case SpecialRegister::LanemaskGe:
    return allLanes & ~below;
  case SpecialRegister::LanemaskGt:
    return allLanes & ~(below | own);
  case SpecialRegister::Clock:
  case SpecialRegister::Clock64:
  case SpecialRegister::GlobalTimer:
    return static_cast<Word>(context.counters.warpInstructions);
  case SpecialRegister::NsmId:
    return 1;
  case SpecialRegister::DynamicSharedBytes:
    return static_cast<Word>(launch.sharedBytes);
  case SpecialRegister::TotalSharedBytes:
    return static_cast<Word>(launch.sharedBytes +
                             context.kernel.info.sharedBytes);
  default: // The number of the multiprocessor and of the grid.
    return 0;
  }
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

static void copySlot(uint8_t *parameters, CallSlot from, CallSlot to) {
  std::memmove(parameters + to.offset, parameters + from.offset,
               std::min(from.bytes, to.bytes));
}

uint8_t *Warp::getCallParameter(unsigned lane, Word offset) {
  return callParameters.data() +
         size_t(lane) * block.getContext().program.callBytes + offset;
}

void Warp::call(unsigned lane, const Call &call) {
  const Program &program = block.getContext().program;
  const Function &function = program.functions[call.function];
  if (!function.isDefined) {
    fault(FaultKind::Trap, lane,
          "calls '" + function.name + "', which the module does not define");
    return;
  }
  for (size_t i = 0; i < call.arguments.size(); ++i)
    copySlot(getCallParameter(lane, 0), call.arguments[i],
             function.parameters[i]);
  frames[lane].push_back({counters[lane], &call});
  forgetRange(function.firstRegister, function.endRegister, lane);
  counters[lane] = function.entry;
}

void Warp::leave(unsigned lane) {
  if (frames[lane].empty()) {
    exit(lane);
    return;
  }
  Frame frame = frames[lane].back();
  frames[lane].pop_back();
  const Function &function =
      block.getContext().program.functions[frame.call->function];
  for (size_t i = 0; i < frame.call->results.size(); ++i)
    copySlot(getCallParameter(lane, 0), function.results[i],
             frame.call->results[i]);
  counters[lane] = frame.returnTo;
}

void Warp::exit(unsigned lane) {
  states[lane] = LaneState::Exited;
  // Lanes that wait for this one look again whom they wait for.
  forEachLane(getLanes(LaneState::AtSync),
              [&](unsigned waiting) { states[waiting] = LaneState::Running; });
}

LaneMask Warp::gather(const Instruction &instruction, LaneMask here,
                      LaneMask mask, bool anyPlace) {
  const Program &program = block.getContext().program;
  uint32_t place = counters[getFirstLane(here)] - 1;
  LaneMask arrived = here;
  forEachLane(getLanes(LaneState::AtSync), [&](unsigned lane) {
    bool isSame =
        anyPlace ? program.instructions[counters[lane]].run == instruction.run
                 : counters[lane] == place;
    if (isSame && awaited[lane] == mask)
      arrived |= LaneMask(1) << lane;
  });
  LaneMask needed = mask & getLive();
  if (needed & ~arrived) {
    forEachLane(here, [&](unsigned lane) {
      states[lane] = LaneState::AtSync;
      awaited[lane] = mask;
      counters[lane] = place;
    });
    return 0;
  }
  forEachLane(needed & ~here, [&](unsigned lane) {
    states[lane] = LaneState::Running;
    ++counters[lane];
  });
  return needed;
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

bool Warp::isNewFault(FaultKind kind) const {
  return block.getContext().faults.isNew(kind, current->line);
}

void Warp::fault(FaultKind kind, unsigned lane, const std::string &message) {
  if (!isNewFault(kind))
    return;
  LaunchContext &context = block.getContext();
  context.faults.add(kind, current->line,
                     context.kernel.name + ", line " +
                         std::to_string(current->line) + " '" + current->text +
                         "', " + block.describe(getThread(lane)) + ": " +
                         message);
}
