//===- Passes.h - Keep values for backward or recompute them ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_REMAT_PASSES_H
#define PIPEWRIGHT_REMAT_PASSES_H

#include "mlir/Pass/Pass.h"

namespace pipewright {

/// Which saved values are recomputed: none, or all of them.
enum class RematPolicy { None, Full };

#define GEN_PASS_DECL
#include "pipewright/Remat/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "pipewright/Remat/Passes.h.inc"

} // namespace pipewright

#endif // PIPEWRIGHT_REMAT_PASSES_H
