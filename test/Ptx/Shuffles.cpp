//===- Shuffles.cpp - Lanes of a warp exchange values
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// shfl, vote, match, redux, elect: the lanes that the mask names come together
// and exchange registers. None of them orders memory; bar.warp.sync does.
//
//===----------------------------------------------------------------------===//

#include "Ptx/Control.h"
#include "Ptx/Opcodes.h"

#include <algorithm>

using namespace pipewright::ptx;

/// Gathers the lanes of each mask and calls \p body(lanes), with all sources
/// written, for those that are complete.
template <typename Body>
static void exchange(Warp &warp, const Instruction &instruction,
                     const Operand &mask, LaneMask active, Body body) {
  warp.checkWritten(mask, active);
  forEachMask(warp, mask, active, [&](LaneMask here, LaneMask members) {
    LaneMask lanes = warp.gather(instruction, here, members);
    if (!lanes)
      return;
    for (const Operand &source : instruction.sources)
      warp.checkWritten(source, lanes);
    body(lanes);
  });
}

//===----------------------------------------------------------------------===//
// shfl
//===----------------------------------------------------------------------===//

namespace {
enum ShuffleMode { Up, Down, Butterfly, Index };

struct Source {
  unsigned lane;
  bool inRange;
};
} // namespace

/// Which lane a lane reads: the formulas of the PTX manual. \p control has the
/// bound in its low five bits and the mask of segments in the next eight.
static Source getSource(unsigned mode, unsigned lane, unsigned b,
                        unsigned control) {
  unsigned bound = control & 31, segments = control >> 8 & 31;
  unsigned highest = (lane & segments) | (bound & ~segments);
  unsigned lowest = lane & segments;
  b &= 31;
  int from = 0;
  bool inRange = false;
  switch (mode) {
  case Up:
    from = static_cast<int>(lane) - static_cast<int>(b);
    // The bound of this mode is the lowest lane.
    inRange = from >= static_cast<int>(highest);
    break;
  case Down:
    from = static_cast<int>(lane + b);
    inRange = from <= static_cast<int>(highest);
    break;
  case Butterfly:
    from = static_cast<int>(lane ^ b);
    inRange = from <= static_cast<int>(highest);
    break;
  default:
    from = static_cast<int>(lowest | (b & ~segments));
    inRange = from <= static_cast<int>(highest);
  }
  return {inRange ? static_cast<unsigned>(from) : lane, inRange};
}

static void runShuffle(Warp &warp, const Instruction &instruction,
                       LaneMask active) {
  const auto &sources = instruction.sources;
  exchange(warp, instruction, sources[3], active, [&](LaneMask lanes) {
    Word values[warpSize] = {};
    forEachLane(lanes, [&](unsigned lane) {
      values[lane] = warp.read(sources[0], lane);
    });
    Source from[warpSize] = {};
    forEachLane(lanes, [&](unsigned lane) {
      from[lane] =
          getSource(instruction.variant, lane,
                    static_cast<unsigned>(warp.read(sources[1], lane)),
                    static_cast<unsigned>(warp.read(sources[2], lane)));
      if (!(lanes >> from[lane].lane & 1))
        warp.fault(FaultKind::Undefined, lane,
                   "reads from lane " + std::to_string(from[lane].lane) +
                       ", which takes no part");
    });
    forEachLane(lanes, [&](unsigned lane) {
      warp.write(instruction.results[0], lane, values[from[lane].lane]);
      if (instruction.results.size() > 1)
        warp.write(instruction.results[1], lane, from[lane].inRange);
    });
  });
}

static bool decodeShuffle(Modifiers &modifiers, Instruction &instruction) {
  int mode = modifiers.takeOneOf({"up", "down", "bfly", "idx"});
  instruction.variant = static_cast<uint8_t>(mode);
  instruction.run = runShuffle;
  modifiers.results = Modifiers::anyNumber;
  return modifiers.take("sync") && mode >= 0 &&
         modifiers.takeType() == Type::B32;
}

//===----------------------------------------------------------------------===//
// vote
//===----------------------------------------------------------------------===//

namespace {
enum VoteMode { All, Any, Uniform, Ballot };
} // namespace

static void runVote(Warp &warp, const Instruction &instruction,
                    LaneMask active) {
  exchange(warp, instruction, instruction.sources[1], active,
           [&](LaneMask lanes) {
             LaneMask votes = 0;
             forEachLane(lanes, [&](unsigned lane) {
               bool vote = warp.read(instruction.sources[0], lane) != 0;
               votes |= LaneMask(vote) << lane;
             });
             Word result = votes;
             if (instruction.variant == All)
               result = votes == lanes;
             else if (instruction.variant == Any)
               result = votes != 0;
             else if (instruction.variant == Uniform)
               result = votes == lanes || votes == 0;
             forEachLane(lanes, [&](unsigned lane) {
               warp.write(instruction.results[0], lane, result);
             });
           });
}

static bool decodeVote(Modifiers &modifiers, Instruction &instruction) {
  int mode = modifiers.takeOneOf({"all", "any", "uni", "ballot"});
  instruction.variant = static_cast<uint8_t>(mode);
  instruction.run = runVote;
  Type wanted = mode == Ballot ? Type::B32 : Type::Pred;
  return modifiers.take("sync") && mode >= 0 && modifiers.takeType() == wanted;
}

static void runActiveMask(Warp &warp, const Instruction &instruction,
                          LaneMask active) {
  forEachLane(active, [&](unsigned lane) {
    warp.write(instruction.results[0], lane, active);
  });
}

static bool decodeActiveMask(Modifiers &modifiers, Instruction &instruction) {
  instruction.run = runActiveMask;
  return modifiers.takeType() == Type::B32;
}

//===----------------------------------------------------------------------===//
// match, redux, elect
//===----------------------------------------------------------------------===//

/// The lanes whose value is that of \p lane.
static LaneMask getEqual(Warp &warp, const Operand &value, LaneMask lanes,
                         unsigned lane) {
  LaneMask equal = 0;
  Word wanted = warp.read(value, lane);
  forEachLane(lanes, [&](unsigned other) {
    equal |= LaneMask(warp.read(value, other) == wanted) << other;
  });
  return equal;
}

/// match.any gives the lanes with the same value; match.all gives all lanes if
/// all values are the same, else none, and a predicate that says so.
static void runMatch(Warp &warp, const Instruction &instruction,
                     LaneMask active) {
  exchange(
      warp, instruction, instruction.sources[1], active, [&](LaneMask lanes) {
        LaneMask equal[warpSize] = {};
        forEachLane(lanes, [&](unsigned lane) {
          equal[lane] = getEqual(warp, instruction.sources[0], lanes, lane);
        });
        forEachLane(lanes, [&](unsigned lane) {
          bool isAll = equal[lane] == lanes;
          bool wantsAll = instruction.variant == All;
          warp.write(instruction.results[0], lane,
                     wantsAll && !isAll ? 0 : equal[lane]);
          if (instruction.results.size() > 1)
            warp.write(instruction.results[1], lane, isAll);
        });
      });
}

static bool decodeMatch(Modifiers &modifiers, Instruction &instruction) {
  int mode = modifiers.takeOneOf({"all", "any"});
  instruction.variant = static_cast<uint8_t>(mode);
  instruction.run = runMatch;
  modifiers.results = Modifiers::anyNumber;
  return modifiers.take("sync") && mode >= 0 && isBits(modifiers.takeType());
}

namespace {
enum Reduction { Add, Minimum, Maximum, And, Or, Xor };
} // namespace

static Word reduce(const Instruction &instruction, Word a, Word b) {
  bool isSignedType = isSigned(instruction.type);
  bool isLess = isSignedType ? signExtend(a, 32) < signExtend(b, 32) : a < b;
  switch (instruction.variant) {
  case Add:
    return (a + b) & 0xFFFFFFFF;
  case Minimum:
    return isLess ? a : b;
  case Maximum:
    return isLess ? b : a;
  case And:
    return a & b;
  case Or:
    return a | b;
  default:
    return a ^ b;
  }
}

static void runReduction(Warp &warp, const Instruction &instruction,
                         LaneMask active) {
  exchange(
      warp, instruction, instruction.sources[1], active, [&](LaneMask lanes) {
        unsigned first = getFirstLane(lanes);
        Word sum = warp.read(instruction.sources[0], first);
        forEachLane(lanes & (lanes - 1), [&](unsigned lane) {
          sum =
              reduce(instruction, sum, warp.read(instruction.sources[0], lane));
        });
        forEachLane(lanes, [&](unsigned lane) {
          warp.write(instruction.results[0], lane, sum);
        });
      });
}

static bool decodeReduction(Modifiers &modifiers, Instruction &instruction) {
  int reduction =
      modifiers.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  instruction.variant = static_cast<uint8_t>(reduction);
  instruction.type = modifiers.takeType();
  instruction.run = runReduction;
  bool isLogic = reduction >= And;
  return modifiers.take("sync") && reduction >= 0 &&
         (isLogic
              ? instruction.type == Type::B32
              : isInteger(instruction.type) && getBits(instruction.type) == 32);
}

/// The first lane is the leader.
static void runElect(Warp &warp, const Instruction &instruction,
                     LaneMask active) {
  exchange(warp, instruction, instruction.sources[0], active,
           [&](LaneMask lanes) {
             unsigned leader = getFirstLane(lanes);
             forEachLane(lanes, [&](unsigned lane) {
               warp.write(instruction.results[0], lane, leader);
               warp.write(instruction.results[1], lane, lane == leader);
             });
           });
}

static bool decodeElect(Modifiers &modifiers, Instruction &instruction) {
  instruction.run = runElect;
  modifiers.results = 2;
  return modifiers.take("sync");
}

void pipewright::ptx::addShuffles(OpcodeTable &table) {
  table["shfl"] = {decodeShuffle, "rssss"};
  table["vote"] = {decodeVote, "rss"};
  table["activemask"] = {decodeActiveMask, "r"};
  table["match"] = {decodeMatch, "rss"};
  table["redux"] = {decodeReduction, "rss"};
  table["elect"] = {decodeElect, "rs"};
}
