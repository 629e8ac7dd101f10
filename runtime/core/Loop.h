//===- Loop.h - The steps of a run ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_LOOP_H
#define PPRT_CORE_LOOP_H

#include "Context.h"

namespace pprt {

/// Loads weights and data, runs all steps, and writes what was asked for. Ends
/// alike on all ranks.
Status runSteps(PprtContext &context);

} // namespace pprt

#endif // PPRT_CORE_LOOP_H
