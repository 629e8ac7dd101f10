//===- Passes.h - What layers cost ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_PASSES_H
#define PIPEWRIGHT_COST_PASSES_H

#include "mlir/Pass/Pass.h"

namespace pipewright {

#define GEN_PASS_DECL
#include "pipewright/Cost/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "pipewright/Cost/Passes.h.inc"

} // namespace pipewright

#endif // PIPEWRIGHT_COST_PASSES_H
