//===- Spaces.h - Modifiers of memory instructions --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_SPACES_H
#define PIPEWRIGHT_TEST_PTX_SPACES_H

#include "Ptx/Opcodes.h"

namespace pipewright::ptx {

/// Takes the name of a space; Generic if there is none.
Space takeSpace(Modifiers &modifiers);

/// Takes which memory order an access has and among which threads.
void takeOrder(Modifiers &modifiers, Instruction &instruction);

/// Takes what only caches heed; a policy is a source more.
void takeCacheHints(Modifiers &modifiers);

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_SPACES_H
