//===- Block.cpp - The threads that share memory and barriers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx/Block.h"

#include <algorithm>

using namespace pipewright::ptx;

/// Instructions of a warp before another may run, so that threads that wait
/// for others in a loop get what they wait for.
static constexpr unsigned stepsOfTurn = 1000;

Block::Block(LaunchContext &context, Dim id)
    : context(context), id(id),
      threads(context.launch.block.x * context.launch.block.y *
              context.launch.block.z),
      clock(threads), shared("shared", Word(0), context.program.sharedBytes,
                             Region::ByteState::Gap),
      dynamicShared("shared", dynamicSharedBase, context.launch.sharedBytes) {
  for (const Variable &variable : context.program.variables)
    if (variable.space == Space::Shared && variable.bytes > 0 &&
        (!variable.kernel || *variable.kernel == context.kernel.name))
      shared.setState(variable.address, variable.bytes,
                      Region::ByteState::Unwritten);
  for (unsigned warp = 0; warp * warpSize < threads; ++warp)
    warps.push_back(std::make_unique<Warp>(*this, warp));
}

uint32_t Block::getLinearId() const {
  const Dim &grid = context.launch.grid;
  return (id.z * grid.y + id.y) * grid.x + id.x;
}

static std::string describeDim(Dim dim) {
  return "(" + std::to_string(dim.x) + "," + std::to_string(dim.y) + "," +
         std::to_string(dim.z) + ")";
}

/// The place of number \p i in a box of \p size.
static Dim getPlace(uint32_t i, Dim size) {
  return {i % size.x, i / size.x % size.y, i / size.x / size.y};
}

Dim Block::getThreadId(unsigned thread) const {
  return getPlace(thread, context.launch.block);
}

std::string pipewright::ptx::describeThread(const Launch &launch,
                                            uint32_t block, unsigned thread) {
  return "thread " + describeDim(getPlace(thread, launch.block)) +
         " of block " + describeDim(getPlace(block, launch.grid));
}

void Block::run() {
  bool progresses = true;
  while (progresses) {
    progresses = false;
    for (auto &warp : warps) {
      if (!warp->canRun())
        continue;
      progresses = true;
      warp->run(stepsOfTurn);
      if (context.faults.isStopped())
        return;
    }
  }
  for (auto &warp : warps)
    if (warp->getLive()) {
      reportDeadlock();
      break;
    }
  addTraffic(context.counters.traffic["shared"], shared.traffic);
  addTraffic(context.counters.traffic["shared"], dynamicShared.traffic);
  for (auto &warp : warps)
    addTraffic(context.counters.traffic["local"], warp->getLocalTraffic());
}

void Block::arrive(unsigned number, unsigned expected, const Arrival &arrival,
                   unsigned holding) {
  Barrier &barrier = barriers[number];
  if (barrier.arrived > 0 && barrier.expected != expected) {
    arrival.warp->fault(FaultKind::Undefined, getFirstLane(arrival.lanes),
                        "expects " + std::to_string(expected) +
                            " threads at a barrier where others expect " +
                            std::to_string(barrier.expected));
    return;
  }
  barrier.expected = expected;
  barrier.arrived += countLanes(arrival.lanes);
  barrier.holding += holding;
  barrier.arrivals.push_back(arrival);
  if (arrival.waits)
    forEachLane(arrival.lanes, [&](unsigned lane) {
      arrival.warp->setState(lane, Warp::LaneState::AtBarrier);
    });
  if (barrier.arrived >= expected)
    complete(barrier);
}

/// Barrier reductions give what all threads' predicates make together.
static Word reducePredicates(const Instruction &instruction, unsigned holding,
                             unsigned threads) {
  switch (static_cast<BarrierAction>(instruction.variant)) {
  case BarrierAction::And:
    return holding == threads;
  case BarrierAction::Or:
    return holding > 0;
  default:
    return holding;
  }
}

void Block::complete(Barrier &barrier) {
  checkAligned(barrier);
  order(barrier);
  for (const Arrival &arrival : barrier.arrivals) {
    if (!arrival.waits)
      continue;
    forEachLane(arrival.lanes, [&](unsigned lane) {
      arrival.warp->setState(lane, Warp::LaneState::Running);
      for (const Operand &result : arrival.instruction->results)
        arrival.warp->write(result, lane,
                            reducePredicates(*arrival.instruction,
                                             barrier.holding,
                                             barrier.expected));
    });
  }
  ++context.counters.barriers;
  barrier = Barrier();
}

void Block::order(const Barrier &barrier) {
  std::vector<unsigned> waiting, arriving;
  for (const Arrival &arrival : barrier.arrivals)
    (arrival.waits ? waiting : arriving).push_back(arrival.warp->getIndex());
  if (arriving.empty() && barrier.arrived == threads) {
    clock.orderAll();
    return;
  }
  clock.orderWarps(waiting, arriving);
}

/// The lanes of a warp come to an aligned barrier at one instruction.
void Block::checkAligned(const Barrier &barrier) {
  for (const Arrival &arrival : barrier.arrivals)
    for (const Arrival &other : barrier.arrivals) {
      if (!arrival.instruction->isAligned || arrival.warp != other.warp ||
          arrival.instruction == other.instruction)
        continue;
      arrival.warp->fault(FaultKind::Deadlock, getFirstLane(arrival.lanes),
                          "lanes of this warp come to the barrier in line " +
                              std::to_string(arrival.instruction->line) +
                              ", and others in " + "line " +
                              std::to_string(other.instruction->line));
      return;
    }
}

/// "missing is thread (16,0,0) of block (0,0,0), which has exited"
std::string Block::describeMissing(const Barrier &barrier) {
  for (auto &warp : warps) {
    LaneMask missing = warp->getAll();
    for (const Arrival &arrival : barrier.arrivals)
      if (arrival.warp == warp.get())
        missing &= ~arrival.lanes;
    if (!missing)
      continue;
    unsigned lane = getFirstLane(missing);
    std::string text = "missing is " + describe(warp->getThread(lane));
    if (warp->getState(lane) == Warp::LaneState::Exited)
      return text + ", which has exited";
    // A waiting lane's counter is past its barrier, or at its instruction.
    uint32_t counter = warp->getCounter(lane);
    bool isBarrier = warp->getState(lane) == Warp::LaneState::AtBarrier;
    const Instruction &at =
        context.program.instructions[counter - (isBarrier ? 1 : 0)];
    return text + ", which waits in line " + std::to_string(at.line);
  }
  return "no thread is missing";
}

void Block::reportDeadlock() {
  // Lanes that wait within a warp can be why others wait at a barrier.
  for (auto &warp : warps)
    reportSync(*warp);
  for (const Barrier &barrier : barriers) {
    if (barrier.arrivals.empty())
      continue;
    const Arrival &first = barrier.arrivals.front();
    std::string message =
        context.kernel.name + ", line " +
        std::to_string(first.instruction->line) + " '" +
        first.instruction->text + "', " +
        describe(first.warp->getThread(getFirstLane(first.lanes))) +
        ": waits at a barrier that " + std::to_string(barrier.arrived) +
        " of " + std::to_string(barrier.expected) + " threads reach; " +
        describeMissing(barrier);
    context.faults.add(FaultKind::Deadlock, first.instruction->line, message);
  }
}

/// A lane that waits for lanes of its warp that never come.
void Block::reportSync(Warp &warp) {
  LaneMask waiting = warp.getLanes(Warp::LaneState::AtSync);
  if (!waiting)
    return;
  unsigned lane = getFirstLane(waiting);
  const Instruction &at = context.program.instructions[warp.getCounter(lane)];
  context.faults.add(FaultKind::Deadlock, at.line,
                     context.kernel.name + ", line " + std::to_string(at.line) +
                         " '" + at.text + "', " +
                         describe(warp.getThread(lane)) +
                         ": waits for lanes of its warp that never come");
}
