//===- Block.h - The threads that share memory and barriers -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_BLOCK_H
#define PIPEWRIGHT_TEST_PTX_BLOCK_H

#include "Ptx/FaultLog.h"
#include "Ptx/Warp.h"

namespace pipewright::ptx {

/// What all blocks of a launch have in common.
struct LaunchContext {
  const Program &program;
  const Function &kernel;
  const Launch &launch;
  Memory &memory;
  Region parameters;
  FaultLog faults;
  Counters counters;
};

/// "thread (1,0,0) of block (0,0,0)", from the numbers of both.
std::string describeThread(const Launch &launch, uint32_t block,
                           unsigned thread);

/// What a barrier instruction does, as the variant of its Instruction.
enum class BarrierAction : uint8_t { Sync, Popcount, And, Or, Arrive };

class Block {
public:
  Block(LaunchContext &context, Dim id);

  /// Runs all threads to their end, or to the first fault that ends a launch.
  void run();

  LaunchContext &getContext() { return context; }
  BlockClock &getClock() { return clock; }
  Dim getId() const { return id; }
  uint32_t getLinearId() const;
  unsigned getThreads() const { return threads; }
  unsigned getWarps() const { return static_cast<unsigned>(warps.size()); }
  Dim getThreadId(unsigned thread) const;
  std::string describe(unsigned thread) const {
    return describeThread(context.launch, getLinearId(), thread);
  }

  Region &getShared(Word address) {
    return address >= dynamicSharedBase ? dynamicShared : shared;
  }

  /// A number that no other instruction of this block has.
  uint32_t nextIssue() { return ++issue; }
  uint32_t getIssue() const { return issue; }

  /// Lanes come to a barrier.
  struct Arrival {
    Warp *warp;
    LaneMask lanes;
    const Instruction *instruction;
    bool waits;
  };
  /// \p expected threads complete the barrier \p number. \p holding of the
  /// lanes' predicates hold, for barriers that count them.
  void arrive(unsigned number, unsigned expected, const Arrival &arrival,
              unsigned holding);

private:
  struct Barrier {
    unsigned expected = 0;
    unsigned arrived = 0;
    unsigned holding = 0;
    std::vector<Arrival> arrivals;
  };

  void complete(Barrier &barrier);
  void order(const Barrier &barrier);
  void checkAligned(const Barrier &barrier);
  void reportDeadlock();
  std::string describeMissing(const Barrier &barrier);
  void reportSync(Warp &warp);

  LaunchContext &context;
  Dim id;
  unsigned threads;
  BlockClock clock;
  Region shared, dynamicShared;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<Barrier, 16> barriers;
  uint32_t issue = 0;
};

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_BLOCK_H
