//===- Control.h - Instructions that move lanes -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_CONTROL_H
#define PIPEWRIGHT_TEST_PTX_CONTROL_H

#include "Ptx/Warp.h"

namespace pipewright::ptx {

/// bra, brx.idx, call and ret, whose targets the parser fills in.
void runBranch(Warp &warp, const Instruction &instruction, LaneMask active);
void runIndexedBranch(Warp &warp, const Instruction &instruction,
                      LaneMask active);
void runCall(Warp &warp, const Instruction &instruction, LaneMask active);
void runReturn(Warp &warp, const Instruction &instruction, LaneMask active);

/// Lanes may execute one instruction for several masks of members at once, as
/// tiles of a warp do. Calls \p body(lanes here, mask) for each of the masks.
template <typename Body>
void forEachMask(Warp &warp, const Operand &operand, LaneMask active,
                 Body body) {
  while (active) {
    unsigned first = getFirstLane(active);
    LaneMask mask = static_cast<LaneMask>(warp.read(operand, first));
    LaneMask here = 0;
    forEachLane(active, [&](unsigned lane) {
      if (static_cast<LaneMask>(warp.read(operand, lane)) == mask)
        here |= LaneMask(1) << lane;
    });
    active &= ~here;
    if (here & ~mask)
      warp.fault(FaultKind::Undefined, getFirstLane(here & ~mask),
                 "is not in the mask of members that it gives");
    if (here & mask)
      body(here & mask, mask);
  }
}

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_CONTROL_H
