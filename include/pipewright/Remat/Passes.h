//===- Passes.h - Keep values for backward or recompute them ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_REMAT_PASSES_H
#define PIPEWRIGHT_REMAT_PASSES_H

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/Pass/Pass.h"

namespace pipewright {

#define GEN_PASS_DECL
#include "pipewright/Remat/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "pipewright/Remat/Passes.h.inc"

} // namespace pipewright

#endif // PIPEWRIGHT_REMAT_PASSES_H
