//===- Warp.h - 32 threads in lockstep --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each lane has a program counter of its own. A step executes one instruction
// for all lanes that are at it: of the innermost calls, those at the lowest
// counter. Lanes that left a loop or took the longer side of a branch so wait
// for the others, and meet them where the code joins. Now and then the highest
// counter has its turn: lanes in a loop may wait for those that left it.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_WARP_H
#define PIPEWRIGHT_TEST_PTX_WARP_H

#include "Ptx/Memory.h"
#include "Ptx/Program.h"

#include <array>

namespace pipewright::ptx {

class Block;

/// Calls \p body with the number of each lane of \p lanes.
template <typename Body>
void forEachLane(LaneMask lanes, Body body) {
  for (unsigned lane = 0; lanes >> lane; ++lane)
    if (lanes >> lane & 1) {
      body(lane);
      if (lane == warpSize - 1)
        return;
    }
}

inline unsigned countLanes(LaneMask lanes) {
  return static_cast<unsigned>(__builtin_popcount(lanes));
}

inline unsigned getFirstLane(LaneMask lanes) {
  return static_cast<unsigned>(__builtin_ctz(lanes));
}

/// What a lane wants of memory.
struct MemoryAccess {
  Space space = Space::Generic;
  Word address = 0;
  unsigned bytes = 0;
  bool isRead = false;
  /// What is written, or null.
  const uint8_t *written = nullptr;
  bool isAtomic = false;
  /// A cp.async: its write is not there before the wait.
  bool isPending = false;
};

/// A cp.async that its thread has not waited for.
struct PendingCopy {
  Region *region;
  Word address;
  std::vector<uint8_t> bytes;
  uint32_t group;
};

class Warp {
public:
  enum class LaneState : uint8_t { Running, AtBarrier, AtSync, Exited };

  Warp(Block &block, unsigned index);
  ~Warp();

  /// Executes up to \p steps instructions; stops when no lane can run.
  void run(unsigned steps);
  bool canRun() const { return getLanes(LaneState::Running) != 0; }
  LaneMask getLanes(LaneState state) const;
  /// Lanes that have not exited.
  LaneMask getLive() const { return exists & ~getLanes(LaneState::Exited); }
  /// All lanes that the block has in this warp.
  LaneMask getAll() const { return exists; }

  Block &getBlock() { return block; }
  unsigned getIndex() const { return index; }
  unsigned getThread(unsigned lane) const { return index * warpSize + lane; }

  //===--- Registers -----------------------------------------------------===//

  Word read(const Operand &operand, unsigned lane) const;
  void write(const Operand &operand, unsigned lane, Word value);
  /// Faults if one of the lanes reads a register that it has not written.
  void checkWritten(const Operand &operand, LaneMask lanes);
  LaneMask getWritten(const Operand &operand) const;
  void forget(const Operand &operand, LaneMask lanes);
  /// Registers [first, end) are unwritten again.
  void forgetRange(uint32_t first, uint32_t end, unsigned lane);

  //===--- Memory --------------------------------------------------------===//

  Word getAddress(const Operand &operand, unsigned lane) const;
  /// What \p instruction, which has one address, accesses; not yet how.
  MemoryAccess makeAccess(const Instruction &instruction, unsigned lane) const;
  /// Checks an access and counts it. Returns where its bytes are, or null
  /// after a fault. The caller copies what it reads or writes.
  uint8_t *access(unsigned lane, const MemoryAccess &access);
  uint8_t *getCallParameter(unsigned lane, Word offset);

  void addPending(unsigned lane, Word address, std::vector<uint8_t> bytes);
  void commitPending(unsigned lane) { ++groups[lane]; }
  /// Makes the copies of the groups before \p firstKept happen.
  void settlePending(unsigned lane, uint32_t firstKept);
  /// The group that the lane's next copy belongs to.
  uint32_t getPendingGroup(unsigned lane) const { return groups[lane]; }

  Traffic getLocalTraffic() const;

  //===--- Control -------------------------------------------------------===//

  struct Frame {
    uint32_t returnTo;
    const Call *call;
  };

  void jump(unsigned lane, uint32_t to) { counters[lane] = to; }
  void call(unsigned lane, const Call &call);
  /// Ends the innermost call, or the thread.
  void leave(unsigned lane);
  void exit(unsigned lane);
  void setState(unsigned lane, LaneState state) { states[lane] = state; }
  uint32_t getCounter(unsigned lane) const { return counters[lane]; }
  LaneState getState(unsigned lane) const { return states[lane]; }
  /// The lanes at the instruction, whether its guard holds or not.
  LaneMask getGroup() const { return group; }

  /// Gathers the lanes of \p mask at this instruction, or, if \p anyPlace, at
  /// any instruction of its kind. Returns the lanes to execute it for, none if
  /// some have yet to come; those here then wait.
  LaneMask gather(const Instruction &instruction, LaneMask here, LaneMask mask,
                  bool anyPlace = false);

  /// Reports a fault of one lane in the current instruction.
  void fault(FaultKind kind, unsigned lane, const std::string &message);
  bool isNewFault(FaultKind kind) const;

private:
  bool selectGroup(bool lowestFirst);
  void step();
  LaneMask applyGuard(const Instruction &instruction);
  Word readSpecial(SpecialRegister special, unsigned lane) const;
  Region *resolve(unsigned lane, MemoryAccess &access);
  uint8_t *accessCallParameter(unsigned lane, const MemoryAccess &access);
  bool checkPlace(unsigned lane, const MemoryAccess &access,
                  const Region *region);
  void checkRace(unsigned lane, const MemoryAccess &access, Region &region);
  void reportRace(unsigned lane, const MemoryAccess &access,
                  const Region &region, const Mark &other, bool otherWrites);
  Mark makeMark(unsigned lane, Mark::Kind kind) const;
  void countAccess(unsigned lane, const MemoryAccess &access, Region &region);
  void countSectors();
  void countBankConflicts();

  Block &block;
  unsigned index;
  LaneMask exists;
  const Instruction *current = nullptr;
  LaneMask group = 0;

  std::array<uint32_t, warpSize> counters;
  std::array<LaneState, warpSize> states;
  std::array<LaneMask, warpSize> awaited{};
  std::array<std::vector<Frame>, warpSize> frames;

  /// Those of all functions of the module; what nobody wrote is anything.
  using Registers = std::vector<std::array<Word, warpSize>>;
  /// Their memory, which new warps take over: to clear it takes longer than
  /// what many a warp does.
  static std::vector<Registers> &getSpareRegisters();
  Registers registers;
  std::vector<LaneMask> written;
  std::vector<uint8_t> callParameters;
  std::vector<Region> locals;

  std::array<std::vector<PendingCopy>, warpSize> pending;
  std::array<uint32_t, warpSize> groups{};

  /// 32-byte sectors that the current instruction touched.
  struct Sector {
    Region *region;
    Word number;
    bool isWrite;
  };
  std::vector<Sector> sectors;
  /// What the current instruction accessed in shared memory, by lane.
  struct SharedAccess {
    Region *region;
    unsigned lane;
    Word address;
    unsigned bytes;
  };
  std::vector<SharedAccess> sharedAccesses;
};

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_WARP_H
